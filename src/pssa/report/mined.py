"""What was mined: counts by round, the most frequent words, and sentences with their rounds, as in the paper's Table 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pssa.data.evidence import ACTIVE, Evidence, ExampleEvidence, Finding
from pssa.data.evidence_stats import Stats, WordProfile, stats
from pssa.report.heat import level, number, percent
from pssa.report.markup import Cell, Markup, escape, join, table
from pssa.report.subject import Section

__all__ = ["choose_examples", "show_evidence", "show_rounds"]

_WORDS = 20  # of each kind
_EXAMPLES, _OPEN = 24, 4  # sentences with their rounds, and how many of them are seen at once
_LONGEST = 60  # words of such a sentence


def show_evidence(evidence: Evidence) -> Section:
    """Counts, words and examples."""
    found = stats(evidence, _WORDS)
    examples = choose_examples(evidence.examples, _EXAMPLES)
    parts = [
        Markup(f"<p>{escape(_summary(evidence, found))}</p>"),
        _rounds(found) if found.rounds else _iterations(found),
        Markup('<div class="beside">'),
        *(_words(kind, profiles, tuple(found.per_class)) for kind, profiles in _kinds(found) if profiles),
        Markup("</div>"),
        *_examples(examples, found),
    ]
    return Section("mined", "What was mined", join(parts))


def choose_examples(examples: Iterable[ExampleEvidence], most: int) -> list[ExampleEvidence]:
    """Sentences worth reading, in their order: those with words of both kinds first, then those with most words."""
    fit = [example for example in examples if example.findings and len(example.words) <= _LONGEST]
    ranked = sorted(
        range(len(fit)),
        key=lambda place: (not (fit[place].active and fit[place].misleading), -len(fit[place].findings), place),
    )
    return [fit[place] for place in sorted(ranked[:most])]


def show_rounds(example: ExampleEvidence) -> Markup:
    """One sentence round by round: words found earlier are hidden, words found now stand out."""
    rows: list[list[Cell]] = []
    for iteration in sorted({finding.iteration for finding in example.findings}):
        now = [finding for finding in example.findings if finding.iteration == iteration]
        hidden = {finding.word for finding in example.findings if finding.iteration < iteration}
        rows.append(
            [
                iteration,
                _sentence(example, now, hidden),
                f"{now[0].gold} / {now[0].predicted}",
                ", ".join(dict.fromkeys(f"{finding.entropy:.2f}" for finding in now)),
                ", ".join(example.words[finding.word] for finding in now),
            ]
        )
    aspect = " ".join(example.words[slice(*example.aspect)])
    columns = ("round", "sentence", "gold / predicted", "entropy", "word")
    return table(f"{example.id}: {aspect}, {example.label}", columns, rows, kind="text rounds")


def _summary(evidence: Evidence, found: Stats) -> str:
    header = evidence.header
    limit = (
        "no threshold" if header.epsilon is None else f"words taken where the entropy is below {header.epsilon:g} bits"
    )
    edits = f" Edited since: {'; '.join(header.edits)}." if header.edits else ""
    return (
        f"{found.active} active and {found.misleading} misleading words in {found.examples} instances, "
        f"{found.examples_without} of them without any; by {header.saliency} of {header.model}, {limit}.{edits}"
    )


def _rounds(found: Stats) -> Markup:
    rows: list[list[Cell]] = [
        [
            report.iteration,
            report.active,
            report.misleading,
            f"{report.mean_entropy:.2f}",
            percent(report.open_share),
            percent(report.accuracy),
        ]
        for report in found.rounds
    ]
    columns = ("round", "active", "misleading", "entropy", "open", "right")
    return table(
        "Training instances by round: mean entropy in bits; open: gave a word; right: predicted right", columns, rows
    )


def _iterations(found: Stats) -> Markup:
    rows: list[list[Cell]] = [
        [place, count.active, count.misleading, "" if count.mean_entropy is None else f"{count.mean_entropy:.3f}"]
        for place, count in enumerate(found.per_iteration, start=1)
    ]
    return table("By round; entropy in bits", ("round", "active", "misleading", "mean entropy"), rows)


def _kinds(found: Stats) -> tuple[tuple[str, tuple[WordProfile, ...]], ...]:
    return ("active", found.active_words), ("misleading", found.misleading_words)


def _words(kind: str, profiles: Sequence[WordProfile], labels: tuple[str, ...]) -> Markup:
    rows: list[list[Cell]] = [
        [profile.word, profile.count, *(_share(profile, label) for label in labels)] for profile in profiles
    ]
    return table(f"Most frequent {kind} words, by gold label", ("word", "times", *labels), rows)


def _share(profile: WordProfile, label: str) -> Markup:
    count = profile.labels.get(label, 0)
    return Markup(f'<span title="{count} times">{count / profile.count:.0%}</span>')


def _examples(examples: Sequence[ExampleEvidence], found: Stats) -> list[Markup]:
    if not examples:
        return []
    note = (
        f"{len(examples)} of the {found.examples - found.examples_without} instances with findings, at most {_LONGEST} words "
        "long, those with words of both kinds first. A plus marks an active word, a minus a misleading one. All of them: "
        "pssa evidence show."
    )
    parts = [
        Markup("<h3>Sentences and their rounds</h3>"),
        Markup(f'<p class="note">{escape(note)}</p>'),
        *map(show_rounds, examples[:_OPEN]),
    ]
    if len(examples) > _OPEN:
        rest = join(list(map(show_rounds, examples[_OPEN:])))
        more = len(examples) - _OPEN
        parts.append(Markup(f"<details><summary>{more} more sentences</summary>\n{rest.source}\n</details>"))
    return parts


def _sentence(example: ExampleEvidence, now: Sequence[Finding], hidden: set[int]) -> Markup:
    found = {finding.word: finding for finding in now}
    start, end = example.aspect
    parts: list[str] = []
    for index, word in enumerate(example.words):
        if index and example.spans[index - 1][1] < example.spans[index][0]:
            parts.append(" ")
        if start <= index < end:
            parts.append(f'<b class="in-aspect">{"[" * (index == start)}{escape(word)}{"]" * (index == end - 1)}</b>')
        elif index in hidden:
            parts.append(f'<s title="hidden: {escape(word)}">mask</s>')
        elif index in found:
            parts.append(_found(example, found[index]).source)
        else:
            parts.append(escape(word))
    return Markup(f'<span class="heat">{"".join(parts)}</span>')


def _found(example: ExampleEvidence, finding: Finding) -> Markup:
    sign = "+" if finding.kind == ACTIVE else "\N{MINUS SIGN}"
    heat = max(1, level(finding.score))
    return Markup(
        f'<i class="h{heat} {finding.kind}" title="{finding.kind}, share {percent(finding.score)}" '
        f'data-n="{sign}{number(finding.score)}">{escape(example.words[finding.word])}</i>'
    )
