"""Cells are values: what they need follows from what they are, and what is usual leaves no trace in their description."""

from __future__ import annotations

from paper.experiments.cells import (
    Analysis,
    Mining,
    Place,
    Timing,
    Training,
    cell_name,
    describe,
    mining_method,
    settings,
    with_needs,
)

HERE = Place("laptop", "memnet", 3)


def test_the_baseline_needs_nothing_and_everything_else_in_its_place_needs_it() -> None:
    mined = Mining(HERE, "pg-as")
    assert Training(HERE).needs == ()
    assert Training(HERE, "kt").needs == (Training(HERE),)
    assert mined.needs == (Training(HERE),)
    assert Training(HERE, evidence=(mined,)).needs == (Training(HERE), mined)
    assert Mining(HERE, "human").needs == ()
    assert Timing(HERE, ("base",)).needs == ()


def test_random_words_need_the_consensus_that_they_are_as_many_as() -> None:
    chosen = settings(consensus_threshold=0.4)
    assert Mining(HERE, "random", chosen).needs == (Mining(HERE, "consensus", chosen),)
    assert not Mining(HERE, "random").needs_weights
    other = Mining(HERE, "random", settings(epsilon=2.0, words_of="pg-as"))
    assert other.needs == (Mining(HERE, "pg-as", settings(epsilon=2.0)),)
    assert mining_method(other) == "pg-as"


def test_a_final_training_that_goes_on_needs_the_parameters_of_the_baseline() -> None:
    mined = (Mining(HERE, "pg-as"),)
    assert Training(HERE, evidence=mined, settings=settings(final_start="initial")).needs_weights
    assert not Training(HERE, evidence=mined).needs_weights


def test_a_training_on_augmented_data_searches_its_own_number_of_epochs() -> None:
    assert Training(HERE, settings=settings(augment="contrast")).finds_epochs
    assert not Training(HERE, settings=settings(gamma=0.0)).finds_epochs


def test_mining_goes_on_from_the_baseline_unless_it_trains_models_of_its_own() -> None:
    assert Mining(HERE, "pg-as").needs_weights
    assert not Mining(HERE, "consensus").needs_weights
    assert not Mining(HERE, "aw-as", settings(folds=5)).needs_weights
    assert not Mining(HERE, "pg-as", settings(refine="average")).needs_weights


def test_a_look_needs_the_parameters_of_its_model() -> None:
    look = Analysis(Training(HERE), "trust")
    assert look.needs == (Training(HERE),)
    assert look.needs_weights
    assert look.place == HERE


def test_a_description_holds_what_is_unusual() -> None:
    mined = Mining(HERE, "aw-as", settings(epsilon=2.0))
    assert describe(Training(HERE, evidence=(mined,), rounds=2)) == {
        "kind": "training",
        "place": {"data": "laptop", "model": "memnet", "seed": 3},
        "evidence": [
            {
                "place": {"data": "laptop", "model": "memnet", "seed": 3},
                "method": "aw-as",
                "settings": {"epsilon": 2.0},
            }
        ],
        "rounds": 2,
    }


def test_looks_of_two_kinds_differ_in_their_description() -> None:
    assert describe(Analysis(Training(HERE), "trust")) == {
        "kind": "look",
        "training": {"place": {"data": "laptop", "model": "memnet", "seed": 3}},
        "what": "trust",
    }


def test_seed_zero_is_told_too_since_it_is_no_default() -> None:
    assert describe(Training(Place("rest", "tnet", 0)))["place"] == {"data": "rest", "model": "tnet", "seed": 0}


def test_names_tell_cells_of_one_place_apart() -> None:
    mined = Mining(Place("rest", "tnet_att", 0, share=0.25), "aw-as")
    cell = Training(mined.place, evidence=(mined,), rounds=1, above=0.3, settings=settings(gamma=2.0))
    assert cell_name(cell) == "rest tnet_att seed 0 base +aw-as K=1 above 0.3 25% gamma=2.0"
    chosen = Place("rest", "tnet_att", 0, settings=settings(epochs=1))
    strict = Mining(chosen, "aw-as", settings(epsilon=1.0))
    assert cell_name(strict) == "rest tnet_att seed 0 [epochs=1] mine aw-as epsilon=1.0"
    assert (
        cell_name(Training(chosen, evidence=(strict,))) == "rest tnet_att seed 0 [epochs=1] base +aw-as [epsilon=1.0]"
    )
    assert (
        cell_name(Mining(Place("rest", "tnet_att", 0, held_out=True), "aw-as"))
        == "rest tnet_att seed 0 mine aw-as held out"
    )


def test_what_cells_need_comes_before_them_once() -> None:
    base, mining = Training(HERE), Mining(HERE, "aw-as")
    final = Training(HERE, evidence=(mining,))
    assert with_needs([final, Training(HERE, "kt"), base]) == [base, mining, final, Training(HERE, "kt")]
