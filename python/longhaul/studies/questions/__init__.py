"""Questions of claims: selected values, their comparison with others, and one number of them.

A claim names what it takes of some values (`TAKES`), and says in `where` which values these are:

    of=E1 metric=goodput queue=red      an experiment, a metric, and levels of axes
    flows=5..  condition=8,21           levels of an axis from one to another, or some of them
    algorithm=!FAST                     all levels but these
    pair=75-*                           levels whose names begin so
    metric=a,b                          at each point the mean of several metrics
    metric=100*rf/(1+rf)                what is made of metrics at each point
    when.utilisation=..95               points at which another metric is so, written as levels are
    less.queue=droptail                 point by point less the values where these words are others
    over.of=E2                          point by point divided by such values
    by=replication                      compared in each replication: the median of what comes out
    runs=each                           values of single runs in place of medians
    along=flows                         points along an axis, in order, one at each of its levels
    with.metric=rtt                     points by such values, in place of levels of an axis
    against.queue=droptail              what is taken of all, divided by what is taken of others
    each=flows,queue                    at each level of these axes alone,
    each=metric                         or of each of several metrics alone;
    order=a+b>c>*                       of these numbers the ratio of each to the next: at levels
                                        that share a place the smaller over the larger; * is all
                                        that are not named
    then=least                          and of these numbers the least; the largest without it;
    then=count above=1.1                or how many are above a bound, or below one
    whole=condition                     the statement is about all levels of this axis: see partial
    whole=*                             it says nothing of some of the runs

Words of `less.`, `over.`, `with.` and `against.` are those of `where` that differ; an empty one,
`over.n=`, does not hold on that side. Values of both sides are of the same levels of all axes of
which either side has several. Where a comparison names several levels of an axis of which the other
side has one, that one is compared with each of them.

Numbers are arrays: of no dimension, or with one number for each of several bootstrap samples, whose
points are the same and are selected once. Points are along the last axis.

A question is parsed once, when the claims are read. One file per subject: `words` of `where` by the
side that they are of, the `shape` that they give, the `points` that they select, their `comparison`
with others; `question` is what a claim asks whatever its measure, `declared` and `python` are the
two kinds of measures.
"""

from longhaul.studies.questions.declared import DECLARED, DeclaredMeasure
from longhaul.studies.questions.python import PythonQuestion
from longhaul.studies.questions.question import Question
from longhaul.studies.questions.words import words_of

__all__ = ["DECLARED", "DeclaredMeasure", "PythonQuestion", "Question", "words_of"]
