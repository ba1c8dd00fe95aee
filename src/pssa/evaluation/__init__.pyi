"""Names of the package and the modules that they load from; see `pssa.lazy`."""

from pssa.evaluation.agreement import Agreement as Agreement
from pssa.evaluation.agreement import Correlation as Correlation
from pssa.evaluation.agreement import correlate as correlate
from pssa.evaluation.agreement import marked_words as marked_words
from pssa.evaluation.agreement import measure_agreement as measure_agreement
from pssa.evaluation.faithfulness import Faithfulness as Faithfulness
from pssa.evaluation.faithfulness import by_deletion as by_deletion
from pssa.evaluation.faithfulness import by_mask as by_mask
from pssa.evaluation.faithfulness import measure_faithfulness as measure_faithfulness
from pssa.evaluation.metrics import ClassScores as ClassScores
from pssa.evaluation.metrics import Scores as Scores
from pssa.evaluation.metrics import SpanScores as SpanScores
from pssa.evaluation.metrics import score as score
from pssa.evaluation.metrics import score_spans as score_spans
from pssa.evaluation.predict import predict_classes as predict_classes
from pssa.evaluation.predict import predict_logits as predict_logits
from pssa.evaluation.reviews import ReviewAnswer as ReviewAnswer
from pssa.evaluation.reviews import ReviewScores as ReviewScores
from pssa.evaluation.reviews import score_reviews as score_reviews
from pssa.evaluation.significance import AgainstChance as AgainstChance
from pssa.evaluation.significance import Bootstrap as Bootstrap
from pssa.evaluation.significance import Estimate as Estimate
from pssa.evaluation.significance import mcnemar as mcnemar
from pssa.evaluation.significance import paired_bootstrap as paired_bootstrap
