"""Finding aspects in raw text: taggers on words and on encoders, their training and their runs."""

from pssa.aspects.evaluate import SpanScores, evaluate_aspects
from pssa.aspects.find import AspectFinder, load_finder
from pssa.aspects.spans import AspectSentence, read_sentences
from pssa.aspects.train import resume_aspects, train_aspects

__all__ = [
    "AspectFinder",
    "AspectSentence",
    "SpanScores",
    "evaluate_aspects",
    "load_finder",
    "read_sentences",
    "resume_aspects",
    "train_aspects",
]
