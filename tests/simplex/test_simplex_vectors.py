"""Vectors of the specification, and values that others have published."""

import numpy as np
import pytest
from event_rows import T_PROBS

from trueness.simplex.kernel_test import biased_bound, unbiased_bound
from trueness.simplex.partitions import cells_of_equal_width, median_variance_parts


def test_the_cells_of_T() -> None:
    assert cells_of_equal_width(np.array(T_PROBS), 2).max() == 3
    assert median_variance_parts(np.array(T_PROBS), 2).max() == 3


# Widmann et al. (2019), fourteen networks on the 10 000 test images of CIFAR-10, as in the paper's data: the biased,
# the unbiased and the linear estimate, and the p-values of the bounds that were computed from them.
PUBLISHED = {
    "googlenet": (2.7592939340394272e-5, 1.6866938444902392e-5, -0.00040512499082590156),
    "mobilenet_v2": (0.00020640480253506248, 0.00019108966621409577, -4.487736692275322e-5),
    "resnet_orig": (0.0004270270957092768, 0.00040901304129217786, 0.0004082206858650098),
    "vgg19_bn": (0.0002377752361265794, 0.0002266608348340924, 0.00012673337303486124),
}
PUBLISHED_BOUNDS = {
    "googlenet": (1.0, 0.999999822191508, 0.9998974263496668),
    "mobilenet_v2": (0.9998738282170359, 0.9999771782225871, 0.9999987412645035),
    "resnet_orig": (0.899103196672312, 0.9998954481734563, 0.9998958528434616),
    "vgg19_bn": (0.9959262181676004, 0.9999678910567233, 0.9999899617079835),
}


@pytest.mark.parametrize("network", PUBLISHED)
def test_published_bounds_of_published_estimates(network: str) -> None:
    biased, unbiased, linear = PUBLISHED[network]
    found = (biased_bound(biased, 10_000), unbiased_bound(unbiased, 10_000), unbiased_bound(linear, 10_000))
    assert found == pytest.approx(PUBLISHED_BOUNDS[network], rel=1e-12)
