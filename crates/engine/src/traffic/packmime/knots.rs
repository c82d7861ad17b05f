//! Quantiles of PackMime's distributions, as pairs of a probability and a value: a selection of the points in
//! ns-2.35's `packmime/packmime_ranvar.cc`.

/// Quantiles of the sizes of downloaded files, in bytes.
pub(super) const DOWNLOADS: [(f64, f64); 13] = [
    (0.001247, 275.9),
    (0.349893, 1072.0),
    (0.507257, 2347.0),
    (0.613364, 4198.7),
    (0.688882, 6427.4),
    (0.744605, 8643.0),
    (0.799392, 11130.5),
    (0.882557, 17154.8),
    (0.931533, 30060.0),
    (0.94588, 34854.9),
    (0.971534, 42474.0),
    (0.980938, 55275.3),
    (0.985011, 67020.1),
];

/// Quantiles of the sizes of answers to cache validations, in bytes.
pub(super) const VALIDATIONS: [(f64, f64); 16] = [
    (0.0001, 4.6),
    (0.0231, 44.2),
    (0.0396, 60.7),
    (0.08784, 72.6),
    (0.10609, 77.7),
    (0.14058, 97.3),
    (0.18833, 110.4),
    (0.32181, 125.8),
    (0.64953, 156.0),
    (0.70027, 169.9),
    (0.74452, 194.1),
    (0.77401, 205.5),
    (0.82476, 220.6),
    (0.90575, 251.9),
    (0.947, 266.2),
    (0.99999, 272.2),
];

/// Quantiles of the sizes of the smaller half of all requests, in bytes.
pub(super) const SMALL_REQUESTS: [(f64, f64); 11] = [
    (3e-05, 51.0),
    (0.01178, 98.6),
    (0.02553, 135.5),
    (0.04378, 173.9),
    (0.05778, 191.2),
    (0.10403, 220.3),
    (0.14803, 257.3),
    (0.19502, 278.1),
    (0.38327, 329.9),
    (0.61551, 367.8),
    (1.0, 421.8),
];

/// Quantiles of the sizes of the larger half of all requests, in bytes.
pub(super) const LARGE_REQUESTS: [(f64, f64); 8] = [
    (0.005716, 424.0),
    (0.40033, 473.2),
    (0.57331, 566.6),
    (0.747418, 802.3),
    (0.829245, 898.3),
    (0.886464, 1001.5),
    (0.926315, 1273.1),
    (0.9375, 1420.7),
];

/// Quantiles of the round-trip times on the client's side, in milliseconds.
pub(super) const CLIENT_RTTS: [(f64, f64); 10] = [
    (0.0, 0.52),
    (0.56660944, 1.531),
    (0.6976576, 2.167),
    (0.83171337, 23.754),
    (0.94608265, 71.657),
    (0.97431432, 262.155),
    (0.99258158, 733.2),
    (0.99744261, 1129.004),
    (0.9998587, 2268.964),
    (0.999995, 3170.671),
];

/// Quantiles of the round-trip times on the server's side, in milliseconds.
pub(super) const SERVER_RTTS: [(f64, f64); 10] = [
    (0.0, 0.495),
    (0.44664989, 52.283),
    (0.70008375, 88.98),
    (0.84547456, 96.328),
    (0.90667457, 122.131),
    (0.99055939, 707.259),
    (0.994812, 1156.964),
    (0.9969097, 1541.151),
    (0.99825015, 2769.733),
    (0.9999, 5110.757),
];
