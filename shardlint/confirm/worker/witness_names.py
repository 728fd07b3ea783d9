"""The closed list: the functions and constants that a request can select by key, with their names in JAX."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
from collections.abc import Callable
from typing import Any

import jax

from witness_functions import OWN
from witness_steps import Request, Unsupported, at

_FUNCTIONS = {
    "jax": """
        NamedSharding ShapeDtypeStruct device_put make_array_from_process_local_data make_mesh
        set_mesh shard_map smap vmap
    """,
    "jax.sharding": """
        AbstractMesh Mesh NamedSharding PartitionSpec auto_axes explicit_axes get_abstract_mesh
        get_mesh no_collectives reshard use_abstract_mesh use_mesh
    """,
    "jax.experimental.mesh_utils": "create_device_mesh create_hybrid_device_mesh",
    "flax.linen": "logical_to_mesh_axes logical_to_mesh_sharding with_logical_constraint",
    "flax.nnx": "Param",
    "jax.lax": """
        abs acos acosh add all_gather all_to_all approx_max_k approx_min_k argmax argmin asin
        asinh atan atan2 atanh axis_index axis_size batch_matmul bessel_i0e bessel_i1e betainc
        bitcast_convert_type bitwise_and bitwise_not bitwise_or bitwise_xor broadcast
        broadcast_in_dim broadcast_shapes broadcast_to_rank broadcasted_iota cbrt ceil clamp clz
        collapse complex concatenate conj conv conv_dimension_numbers conv_general_dilated
        conv_general_dilated_patches conv_transpose conv_with_general_padding convert_element_type
        cos cosh cumlogsumexp cummax cummin cumprod cumsum digamma div dot dot_general
        dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim
        dynamic_update_slice dynamic_update_slice_in_dim empty eq erf erf_inv erfc exp exp2
        expand_dims expm1 floor full full_like gather ge gt igamma igamma_grad_a igammac imag
        index_in_dim index_take integer_pow iota is_finite le lgamma log log1p logistic lt max min
        mul ne neg nextafter optimization_barrier pad pbroadcast pcast pmax pmean pmin polygamma
        population_count pow ppermute pshuffle psum psum_scatter pswapaxes pvary ragged_all_to_all
        ragged_dot random_gamma_grad real reciprocal reduce reduce_and reduce_max reduce_min
        reduce_or reduce_precision reduce_prod reduce_sum reduce_window reduce_xor rem reshape rev
        rng_uniform round rsqrt scatter scatter_add scatter_max scatter_min scatter_mul
        scatter_sub select select_n shift_left shift_right_arithmetic shift_right_logical sign sin
        sinh slice slice_in_dim sort sort_key_val split sqrt square squeeze stack stop_gradient
        sub tan tanh tile top_k transpose unstack with_sharding_constraint zeta
    """,
    "jax.nn": """
        celu dot_product_attention elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh
        identity leaky_relu log1mexp log_sigmoid log_softmax logmeanexp logsumexp mish one_hot
        relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid
        squareplus standardize swish tanh
    """,
    "jax.nn.initializers": "ones zeros",
    "jax.numpy": """
        abs absolute acos acosh add all allclose amax amin angle any append arange arccos arccosh
        arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around
        array array_equal array_equiv array_split asarray asin asinh astype atan atan2 atanh
        atleast_1d atleast_2d atleast_3d average bartlett bfloat16 bincount bitwise_and
        bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
        bitwise_xor blackman block bool bool_ broadcast_arrays broadcast_shapes broadcast_to cbrt
        cdouble ceil choose clip column_stack complex128 complex64 complex_ compress concat
        concatenate conj conjugate convolve copy copysign corrcoef correlate cos cosh
        count_nonzero cov cross csingle cumprod cumsum cumulative_prod cumulative_sum deg2rad
        degrees delete diag diag_indices diag_indices_from diagflat diagonal diff digitize divide
        divmod dot double dsplit dstack ediff1d einsum empty empty_like equal exp exp2 expand_dims
        expm1 extract eye fabs fill_diagonal flatnonzero flip fliplr flipud float16 float32
        float4_e2m1fn float64 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn
        float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float_ float_power floor
        floor_divide fmax fmin fmod frexp full full_like gcd geomspace gradient greater
        greater_equal hamming hanning heaviside histogram histogram_bin_edges hsplit hstack hypot
        i0 identity imag indices inner insert int16 int2 int32 int4 int64 int8 int_ interp
        intersect1d invert isclose iscomplex isfinite isin isinf isnan isneginf isposinf isreal
        ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linspace log log10 log1p log2
        logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace matmul
        matrix_transpose matvec max maximum mean median meshgrid min minimum mod modf moveaxis
        multiply nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian
        nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative nextafter
        nonzero not_equal ones ones_like outer packbits pad partition percentile permute_dims
        piecewise place poly polyadd polyder polyfit polyint polymul polysub polyval positive pow
        power prod ptp put put_along_axis quantile rad2deg radians ravel ravel_multi_index real
        reciprocal remainder repeat reshape resize right_shift rint roll rollaxis roots rot90
        round searchsorted select setdiff1d setxor1d shape sign signbit sin sinc single sinh size
        sort sort_complex spacing split sqrt square squeeze stack std subtract sum swapaxes take
        take_along_axis tan tanh tensordot tile trace transpose trapezoid tri tril tril_indices
        triu triu_indices true_divide trunc uint uint16 uint2 uint32 uint4 uint64 uint8 union1d
        unique unpackbits unravel_index unstack unwrap vander var vdot vecdot vecmat vsplit vstack
        where zeros zeros_like
    """,
    "jax.numpy.fft": """
        fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn
        rfft rfft2 rfftfreq rfftn
    """,
    "jax.numpy.linalg": """
        cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm
        matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd
        svdvals tensordot tensorinv trace vecdot vector_norm
    """,
    "jax.lax.linalg": "cholesky eigh lu qr triangular_solve",
    "jax.scipy.linalg": """
        block_diag cho_factor cho_solve cholesky det dft eigh expm hadamard hilbert inv lu
        lu_factor lu_solve qr solve solve_triangular sqrtm svd toeplitz
    """,
    "jax.random": """
        ball bernoulli beta binomial bits categorical cauchy chisquare choice clone dirichlet
        double_sided_maxwell exponential f fold_in gamma generalized_normal geometric gumbel key
        key_data laplace loggamma logistic lognormal maxwell multinomial multivariate_normal
        normal orthogonal pareto permutation poisson PRNGKey rademacher randint rayleigh split t
        triangular truncated_normal uniform wald weibull_min wrap_key_data
    """,
    "jax.scipy.special": """
        beta betaln boxcox boxcox1p dawsn digamma entr erf erfc erfcx erfinv exp1 expi expit gamma
        gammainc gammaincc gammaln gammasgn i0 i0e i1 i1e kl_div log_ndtr log_softmax loggamma
        logit logsumexp ndtr ndtri poch rel_entr softmax spence xlog1py xlogy zeta
    """,
    "jax.ops": "segment_max segment_min segment_prod segment_sum",
    "jax.image": "resize",
    "jax.scipy.fft": "dct idct",
    "jax.scipy.integrate": "trapezoid",
    "jax.scipy.ndimage": "map_coordinates",
    "jax.scipy.signal": "convolve correlate detrend fftconvolve",
    "jax.scipy.stats.beta": "cdf logcdf logpdf logsf pdf sf",
    "jax.scipy.stats.cauchy": "cdf isf logcdf logpdf logsf pdf ppf sf",
    "jax.scipy.stats.chi2": "cdf logcdf logpdf logsf pdf sf",
    "jax.scipy.stats.expon": "cdf logcdf logpdf logsf pdf ppf sf",
    "jax.scipy.stats.gamma": "cdf logcdf logpdf logsf pdf sf",
    "jax.scipy.stats.gumbel_l": "cdf logcdf logpdf logsf pdf ppf sf",
    "jax.scipy.stats.gumbel_r": "cdf logcdf logpdf logsf pdf ppf sf",
    "jax.scipy.stats.laplace": "cdf logpdf pdf",
    "jax.scipy.stats.logistic": "cdf isf logpdf pdf ppf sf",
    "jax.scipy.stats.norm": "cdf isf logcdf logpdf logsf pdf ppf sf",
    "jax.scipy.stats.pareto": "cdf logcdf logpdf logsf pdf ppf sf",
    "jax.scipy.stats.t": "logpdf pdf",
    "jax.scipy.stats.truncnorm": "cdf logcdf logpdf logsf pdf sf",
    "jax.scipy.stats.uniform": "cdf logpdf pdf ppf",
}
#: Constants besides functions, for use as arguments.
_CONSTANTS = {
    "jax.sharding.AxisType": "Auto Explicit Manual",
    "jax.sharding.PartitionSpec": "UNCONSTRAINED",
    "jax.sharding.UnreducedKind": "max min sum",
    "jax.lax.Precision": "DEFAULT HIGH HIGHEST",
    "jax.lax.GatherScatterMode": "CLIP FILL_OR_DROP ONE_HOT PROMISE_IN_BOUNDS",
    "flax.linen.spmd.RulesFallback": "AXIS_IS_UNSHARDED NO_CONSTRAINT RAISE_ERROR",
    "numpy": """
        bool_ complex128 complex64 float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8
    """,
}
#: Constants without a name in a module, or with another one.
_PLAIN: dict[str, Any] = {
    "None": None,
    "Ellipsis": ...,
    "NotImplemented": NotImplemented,
    "object": object,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
}
#: Functions that return a function, given a function or other arguments.
TRANSFORMS = frozenset({
    "jax.jit", "jax.pmap", "jax.vmap", "jax.shard_map", "jax.smap", "jax.sharding.auto_axes",
    "jax.sharding.explicit_axes",
})  # fmt: skip


def _paths(table: dict[str, str]) -> dict[str, str]:
    """Return a table from each of its names to itself."""
    return {path: path for home, names in table.items() for path in (f"{home}.{n}" for n in names.split())}


FUNCTIONS = {**_paths(_FUNCTIONS), "nnx.Param": "flax.nnx.Param"}
CONSTANTS = {**_paths(_CONSTANTS), **FUNCTIONS}


def function(key: Any) -> Callable[..., Any]:
    """Return a function of the list. Raises Unsupported."""
    if isinstance(key, str) and key in OWN:
        return OWN[key]
    found: Callable[..., Any] = selected(FUNCTIONS, key)
    return found


def constant(key: Any) -> Any:
    """Return a constant, or a function as an argument of another. Raises Unsupported."""
    if isinstance(key, str) and key in _PLAIN:
        return _PLAIN[key]
    return selected(CONSTANTS, key)


def selected(table: dict[str, str], key: Any) -> Any:
    """Look up a name of a table that stands in the worker, by its key. Raises Unsupported."""
    path = table.get(key) if isinstance(key, str) else None
    if path is None:
        raise Unsupported("no witness has this name")
    try:
        return _look_up(path)
    except (ImportError, AttributeError):
        raise Unsupported(f"{path} is not in JAX {jax.__version__}") from None


def _look_up(path: str) -> Any:
    """Look up a name of the tables here, as ``import a`` and then ``a.b`` do."""
    first, *rest = path.split(".")
    home, found = first, importlib.import_module(first)
    for name in rest:
        home = f"{home}.{name}"
        if inspect.ismodule(found) and not hasattr(found, name):
            with contextlib.suppress(ImportError):  # The missing attribute is reported below.
                importlib.import_module(home)
        found = getattr(found, name)
    return found


# -- names of other releases ---------------------------------------------------------------------------


def _references() -> dict[str, str]:
    """Return the names and arguments that were added or removed in some release: the laws' tables, as
    data.
    """
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "witness_references.json")
    with open(beside, encoding="utf-8") as file:
        return {name: name for name in json.load(file)}


REFERENCES = _references()


def reference(request: Request) -> None:
    """Look up a name of the tables, or an argument ``f(x=)`` in the signature.

    With ``there`` the name's package, or the function without the argument, is looked up instead.
    ``from_import`` imports as ``from a import b`` does. A keyword of any name can be asked for where the
    function is on the list: it is bound, and nothing is called.
    """
    key = request.get("name")
    name, _, argument = key.removesuffix("=)").partition("(") if isinstance(key, str) else ("", "", "")
    path = REFERENCES.get(key) if isinstance(key, str) else None
    if path is None and not (name in FUNCTIONS and argument.isidentifier()):
        raise Unsupported("no release has this name")
    at("import")
    if path is None or path.endswith("=)"):
        given = {} if request.get("there") else {argument: None}
        found = function(name) if path is None else _look_up(name)
        inspect.signature(found).bind_partial(**given)
    elif request.get("there"):
        _look_up(path.partition(".")[0])
    else:
        _refer(path, bool(request.get("from_import")))


def _refer(path: str, from_import: bool) -> None:
    home, _, last = path.rpartition(".")
    package = _look_up(home)
    if from_import and not hasattr(package, last):
        try:
            importlib.import_module(path)
        except ModuleNotFoundError:
            raise ImportError(f"cannot import name {last} from {home}") from None
    getattr(package, last)
