"""A training loop that prints after each epoch how over-confident the network has become."""

import numpy as np
import torch
from sklearn.datasets import load_digits

import trueness as tn
from trueness.adapters.torch import VariationCalibrationError

torch.manual_seed(0)
x, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
x, y = torch.tensor(x[order] / 16, dtype=torch.float32), torch.tensor(y[order])
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimiser = torch.optim.Adam(net.parameters(), 0.02)
metric = VariationCalibrationError(num_classes=10, from_logits=True)
for epoch in range(12):
    for _ in range(5):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x[:200]), y[:200]).backward()
        optimiser.step()
    metric.reset()
    with torch.no_grad():
        for start in range(200, len(y), 128):
            metric.update(net(x[start : start + 128]), y[start : start + 128])
    print(f"epoch {epoch}: VCE {metric.compute():.3f}")
print(tn.assess_table(metric.table))
