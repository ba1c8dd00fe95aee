"""Names of the package and the modules that they load from; see `pssa.lazy`."""

from pssa.data import Corpus as Corpus
from pssa.data import Evidence as Evidence
from pssa.data import Example as Example
from pssa.data import check as check
from pssa.data import read as read
from pssa.errors import InputError as InputError
from pssa.errors import PssaError as PssaError
from pssa.runs import Answer as Answer
from pssa.runs import Classifier as Classifier
from pssa.runs import Config as Config
from pssa.runs import load as load
from pssa.runs import mine as mine
from pssa.runs import resume as resume
from pssa.runs import train as train
from pssa.runs.answers import Explanation as Explanation
from pssa.runs.evaluate import Evaluation as Evaluation
from pssa.runs.sklearn_estimator import AspectClassifier as AspectClassifier

__version__: str
__all__: list[str]
