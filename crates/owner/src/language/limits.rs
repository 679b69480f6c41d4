//! Upper limits on the size of a question, of an alarm and of their parts. Input from outside is checked against them
//! first.

/// Nested parentheses.
pub const NESTING: usize = 64;
/// Bytes of the name of a channel, a device or a result.
pub const NAME_BYTES: usize = 64;
/// Bytes of a question given to the parser: 64 KiB.
pub const QUESTION_BYTES: usize = 64 << 10;
/// Selected expressions of a question, with those that `*` stands for.
pub const SELECTED: usize = 512;
/// Nested or chained operators of a question. Each takes two levels of JSON, and serde_json reads at most 127.
pub const QUESTION_DEPTH: usize = 56;
/// Calls of a question.
pub const CALLS: usize = 1024;
/// Devices that a question may name.
pub const DEVICES: usize = 64;
/// Tags that a question may name, and tags of a device or a channel.
pub const TAGS: usize = 64;
/// Dates and ranges of dates that a condition or its file names.
pub const DATES: usize = 4096;
/// Devices of `top 3 devices of`.
pub const RANKED: core::ops::RangeInclusive<u32> = 1..=1000;
/// Weights of one `weighted_sum`.
pub const WEIGHTS: usize = 4096;
/// Coefficients of one `polynomial`.
pub const POLYNOMIAL: core::ops::RangeInclusive<usize> = 2..=9;
/// Groups of one `moving_average`.
pub const MOVING_GROUPS: core::ops::RangeInclusive<u32> = 2..=1000;
/// Units of one `offset`.
pub const EARLIER: core::ops::RangeInclusive<u32> = 1..=10_000;
/// Bins of one `histogram`.
pub const BINS: core::ops::RangeInclusive<u32> = 2..=1024;
/// Bands of one `spectrum`.
pub const BANDS: core::ops::RangeInclusive<u32> = 2..=24;
/// Windows of one alarm's `for` clause.
pub const ALARM_WINDOWS: core::ops::RangeInclusive<u32> = 1..=1000;
/// Bytes of the name of a model file in a question.
pub const FILE_NAME_BYTES: usize = 256;
/// Bytes of the file of a linear model: 64 KiB.
pub const MODEL_BYTES: usize = 64 << 10;
/// Bytes of the file of a tariff: 64 KiB.
pub const TARIFF_BYTES: usize = 64 << 10;
/// Prices of a tariff.
pub const PRICES: usize = 100;
/// Bytes of the currency of a tariff, and of its unit.
pub const CURRENCY_BYTES: usize = 32;
/// Coefficients of a linear model.
pub const MODEL_COEFFICIENTS: usize = 1024;
