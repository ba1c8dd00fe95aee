"""Names of the package and the modules that they load from; see `pssa.lazy`."""

from pssa.stress.measure import StressResult as StressResult
from pssa.stress.measure import compare_all_right as compare_all_right
from pssa.stress.measure import stress as stress
from pssa.stress.variants import KINDS as KINDS
from pssa.stress.variants import Variant as Variant
from pssa.stress.variants import VariantSet as VariantSet
from pssa.stress.variants import make_variants as make_variants
from pssa.stress.variants_file import read_variants as read_variants
from pssa.stress.variants_file import write_variants as write_variants
