"""Names of the package and the modules that they load from; see `pssa.lazy`."""

from pssa.runs.answers import Answer as Answer
from pssa.runs.classifier import Classifier as Classifier
from pssa.runs.loading import load as load
from pssa.runs.settings import Config as Config
from pssa.runs.training_run import mine as mine
from pssa.runs.training_run import resume as resume
from pssa.runs.training_run import train as train
