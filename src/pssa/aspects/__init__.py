"""Finding aspects in raw text: taggers on words and on encoders, their training and their runs."""

from pssa.aspects.evaluate import EndToEndScores, evaluate_aspects, evaluate_end_to_end, evaluate_reviews
from pssa.aspects.find import AspectFinder, Finder, FoundAspect, find_in_texts, load_finder
from pssa.aspects.names import NameFinder, parse_names, read_names
from pssa.aspects.sentences import split_sentences
from pssa.aspects.spans import AspectSentence, read_sentences
from pssa.aspects.text_pipeline import Pipeline, pipeline
from pssa.aspects.train import resume_aspects, train_aspects
from pssa.aspects.train_run import resume_run, train_with_tagger

__all__ = [
    "AspectFinder",
    "AspectSentence",
    "EndToEndScores",
    "Finder",
    "FoundAspect",
    "NameFinder",
    "Pipeline",
    "evaluate_aspects",
    "evaluate_end_to_end",
    "evaluate_reviews",
    "find_in_texts",
    "load_finder",
    "parse_names",
    "pipeline",
    "read_names",
    "read_sentences",
    "resume_aspects",
    "resume_run",
    "split_sentences",
    "train_aspects",
    "train_with_tagger",
]
