"""Questions of claims: select values, compare them with others, and reduce them to one number.

A claim names a statistic (`TAKES`), and the words in its `where` select the statistic's values:

    of=E1 metric=goodput queue=red      an experiment, a metric, and levels of axes
    flows=5..  condition=8,21           a range of an axis' levels, or some levels
    algorithm=!FAST                     all levels but these
    pair=75-*                           levels whose names begin with `75-`
    metric=a,b                          the mean of several metrics at each point
    metric=100*rf/(1+rf)                arithmetic on metrics at each point
    when.utilisation=..95               points at which another metric is in a range
    less.queue=droptail                 at each point, the value minus the value at queue=droptail
    over.of=E2                          at each point, the value divided by the value in E2
    by=replication                      compares within each replication; takes the median over them
    runs=each                           values of single runs in place of medians
    along=flows                         points along an axis of numbers, in order, one at each of
                                        its levels
    with.metric=rtt                     points along this metric in place of an axis
    against.queue=droptail              the statistic divided by the statistic at queue=droptail
    each=flows,queue                    the statistic separately at each level of these axes,
    each=metric                         or separately for each of several metrics
    order=a+b>c>*                       groups of levels of `each`, separated by `>`: a and b; c;
                                        the rest (*). Each `>` gives a ratio: the smallest number of
                                        its left group over the largest of its right group
    then=least                          the least of these numbers or ratios (default: `largest`;
                                        also `mean` and `middle`, the median),
    then=count above=1.1                or the count (`share`: the share) of those above or below a
                                        bound
    whole=condition                     the claim is about all levels of this axis, or about all
                                        that `condition=` selects; if some of them lack runs, the
                                        module `partial` gives the verdict
    whole=*                             the claim is judged only if all of its runs exist

The second side of `less.`, `over.`, `with.` and `against.` has the words of `where`, except for
words that the comparison replaces. A word without a value, such as `over.n=`, removes the word `n`
from the second side. Values of the two sides are compared at equal levels of the axes. But if the
first side fixes one level of an axis and the second side names several, the value at the fixed
level is compared with the value at each of these.

Numbers are scalars, or arrays with one value for each bootstrap sample. All samples have the same
points, which are selected once. The last dimension of an array of values counts points.

A question is parsed once, when the claims are read. Modules: `words` sorts the words of `where` by
side, `shape` has the operations, `points` selects values, and `comparison` compares them.
`question` is the interface of all measures, of which there are two kinds, `declared` and `python`.
"""

from longhaul.studies.questions.declared import DECLARED, DeclaredMeasure
from longhaul.studies.questions.python import PythonQuestion
from longhaul.studies.questions.question import Question
from longhaul.studies.questions.words import words_of

__all__ = ["DECLARED", "DeclaredMeasure", "PythonQuestion", "Question", "words_of"]
