"""Segmentation: 40 images with three classes and a border that nobody labelled; images are clusters."""

import numpy as np

import trueness as tn

mask, y_prob = tn.simulate.calibrated(40 * 32 * 32, alpha=[4, 1, 1], rng=0)
mask = mask.reshape(40, 32, 32)
mask[:, 0, :] = 255
y_prob = tn.simulate.sharpen(y_prob, 1.3).reshape(40, 32, 32, 3)
y_prob = np.moveaxis(y_prob, -1, 1)  # as networks give it: (images, classes, height, width)
np.savez("masks.npz", y_true=mask, y_prob=y_prob)

result = tn.assess(mask, y_prob, class_axis=1, ignore_index=255)
print(result)
result.write_html("segmentation.html")
