"""Names of the package and the modules that they load from; see `pssa.lazy`."""

from pssa.aspects.evaluate import evaluate_aspects as evaluate_aspects
from pssa.aspects.evaluate import evaluate_reviews as evaluate_reviews
from pssa.aspects.find import Finder as Finder
from pssa.aspects.find import FoundAspect as FoundAspect
from pssa.aspects.find import find_in_texts as find_in_texts
from pssa.aspects.names import NameFinder as NameFinder
from pssa.aspects.names import parse_names as parse_names
from pssa.aspects.names import read_names as read_names
from pssa.aspects.sentences import split_sentences as split_sentences
from pssa.aspects.spans import AspectSentence as AspectSentence
from pssa.aspects.spans import read_sentences as read_sentences
from pssa.aspects.tagger import AspectFinder as AspectFinder
from pssa.aspects.tagger import load_finder as load_finder
from pssa.aspects.train import train_aspects as train_aspects
