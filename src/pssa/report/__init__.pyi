"""Names of the package and the modules that they load from; see `pssa.lazy`."""

from pssa.report.html import html_fragment as html_fragment
from pssa.report.html import to_html as to_html
from pssa.report.svg import to_svg as to_svg
from pssa.report.terminal import to_terminal as to_terminal
