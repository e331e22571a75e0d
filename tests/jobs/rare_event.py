"""Sepsis in about 2 % of stays: does a risk of 10 % mean 10 %? Several stays belong to a patient."""

import numpy as np

import trueness as tn

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(2500), 4)
risk = np.repeat(rng.beta(0.4, 20, 2500), 4)
sepsis = rng.random(10_000) < risk
stated = np.clip(2 * risk, 0, 1)  # the model says twice as much

result = tn.assess_event(sepsis, stated, clusters=patient)
print(result.verdict)
print(result)
result.write_html("sepsis.html")
