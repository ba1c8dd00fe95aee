"""Cells are values: what they need follows from what they are, and what is usual leaves no trace in their description."""

from __future__ import annotations

from paper.experiments.cells import Mining, Place, Training, cell_name, mining_method, settings

HERE = Place("laptop", "memnet", 3)


def test_the_baseline_needs_nothing_and_everything_else_in_its_place_needs_it() -> None:
    mined = Mining(HERE, "pg-as")
    assert Training(HERE).needs == ()
    assert Training(HERE, "kt").needs == (Training(HERE),)
    assert mined.needs == (Training(HERE),)
    assert Training(HERE, evidence=mined).needs == (Training(HERE), mined)
    assert Mining(HERE, "human").needs == ()


def test_random_words_need_the_consensus_that_they_are_as_many_as() -> None:
    chosen = settings(consensus_threshold=0.4)
    assert Mining(HERE, "random", chosen).needs == (Mining(HERE, "consensus", chosen),)
    assert not Mining(HERE, "random").needs_weights
    other = Mining(HERE, "random", settings(epsilon=2.0, words_of="pg-as"))
    assert other.needs == (Mining(HERE, "pg-as", settings(epsilon=2.0)),)
    assert mining_method(other) == "pg-as"


def test_a_final_training_that_goes_on_needs_the_parameters_of_the_baseline() -> None:
    mined = Mining(HERE, "pg-as")
    assert Training(HERE, evidence=mined, settings=settings(final_start="initial")).needs_weights
    assert not Training(HERE, evidence=mined).needs_weights


def test_mining_goes_on_from_the_baseline_unless_it_trains_models_of_its_own() -> None:
    assert Mining(HERE, "pg-as").needs_weights
    assert not Mining(HERE, "consensus").needs_weights
    assert not Mining(HERE, "aw-as", settings(folds=5)).needs_weights
    assert not Mining(HERE, "pg-as", settings(refine="average")).needs_weights


def test_names_tell_cells_of_one_place_apart() -> None:
    mined = Mining(Place("rest", "tnet_att", 0, share=0.25), "aw-as")
    cell = Training(mined.place, evidence=mined, rounds=1, above=0.3, settings=settings(gamma=2.0))
    assert cell_name(cell) == "rest tnet_att seed 0 base +aw-as K=1 above 0.3 25% gamma=2.0"
    chosen = Place("rest", "tnet_att", 0, settings=settings(epochs=1))
    strict = Mining(chosen, "aw-as", settings(epsilon=1.0))
    assert cell_name(strict) == "rest tnet_att seed 0 [epochs=1] mine aw-as epsilon=1.0"
    assert cell_name(Training(chosen, evidence=strict)) == "rest tnet_att seed 0 [epochs=1] base +aw-as [epsilon=1.0]"
    assert (
        cell_name(Mining(Place("rest", "tnet_att", 0, held_out=True), "aw-as"))
        == "rest tnet_att seed 0 mine aw-as held out"
    )
