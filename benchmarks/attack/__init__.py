"""An attack on the library: calls with data of the worst kinds, and what must never come out.

Every call is drawn from its number, so that a defect can be looked at again with
``python -m benchmarks.attack --only NUMBER``. ``make fuzz`` runs 40,000 of them, and goes on where
it was if it was stopped; ``make test`` runs some hundred.

    columns      values of one variable: rare, constant in places, far off, of exotic types
    confounders  z, and what x and y may depend on
    questions    x, y and z together, in the containers that people use; whether they are related
    calls        one public function on one question
    judge        what is wrong with an outcome
    permutation  the exact test within strata that a small p-value of a true null must stand up to
    run          all calls, into a journal, and the summary of it
"""
