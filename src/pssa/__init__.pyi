"""Names of the package and the modules that they load from; see `pssa.lazy`."""

from pssa.data import Corpus as Corpus
from pssa.data import Evidence as Evidence
from pssa.data import Example as Example
from pssa.data import check as check
from pssa.data import read as read
from pssa.data import read_evidence as read_evidence
from pssa.data import write as write
from pssa.data import write_evidence as write_evidence
from pssa.errors import InputError as InputError
from pssa.errors import PssaError as PssaError
from pssa.evaluation import paired_bootstrap as paired_bootstrap
from pssa.evaluation import score as score
from pssa.runs import Answer as Answer
from pssa.runs import Classifier as Classifier
from pssa.runs import Config as Config
from pssa.runs import load as load
from pssa.runs import mine as mine
from pssa.runs import resume as resume
from pssa.runs import train as train
from pssa.runs.answers import Explanation as Explanation
from pssa.runs.evaluate import Evaluation as Evaluation
from pssa.runs.evaluate import evaluate as evaluate
from pssa.runs.hub import from_pretrained as from_pretrained
from pssa.runs.hub import push_to_hub as push_to_hub
from pssa.runs.onnx_export import export_onnx as export_onnx
from pssa.runs.sklearn_estimator import AspectClassifier as AspectClassifier
from pssa.training.observers import LogObserver as LogObserver

__version__: str
__all__: list[str]
