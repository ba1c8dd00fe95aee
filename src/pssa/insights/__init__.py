"""Insights: what many reviews say about what, how sure that is, and which words say so.

make_insights(InsightsJob(("reviews.csv",), Path("insights.html"), by="branch", date="visited"))
"""

from pssa.insights.job import InsightsJob, InsightsSummary, make_insights

__all__ = ["InsightsJob", "InsightsSummary", "make_insights"]
