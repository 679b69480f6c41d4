//! Errors of questions. Each points at a character and suggests a remedy.

use std::fmt;

use sotto_program::text::Caret;

use super::limits;

/// The reason why a question is refused.
///
/// Example: [`QuestionError`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionErrorKind {
    /// The text is empty.
    #[error("the question is empty: select at least one statistic, such as mean(temperature)")]
    Empty,
    /// The text is longer than the limit.
    #[error("the question has {bytes} bytes; at most {} are read", limits::QUESTION_BYTES)]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
    },
    /// Another token is expected here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The tokens that may stand here.
        expected: &'static str,
        /// The token found.
        found: String,
    },
    /// A name is followed by a character that it cannot contain.
    #[error(
        "expected {expected}, found {found}: a name with other characters goes in \"quotes\"{}",
        outside(expected, found)
    )]
    AfterName {
        /// The tokens that may stand here.
        expected: &'static str,
        /// The token found.
        found: String,
    },
    /// An unknown word in a clause.
    #[error("expected {expected}, found {word}{}", meant(*near))]
    UnknownWord {
        /// The word that stands there.
        word: String,
        /// The words that may stand here.
        expected: &'static str,
        /// The word that was probably meant.
        near: Option<&'static str>,
    },
    /// A function's name is not known.
    #[error(
        "no function is called {name}{}",
        near.map_or_else(|| format!(": expected one of {known}"), |near| format!("; did you mean {near}?"))
    )]
    UnknownFunction {
        /// The unknown name.
        name: String,
        /// The function that was probably meant.
        near: Option<&'static str>,
        /// The names of all functions, with commas.
        known: String,
    },
    /// The unit of a result is not known.
    #[error(
        "there is no unit {unit}: known are °C, °F, K, W, Wh, J, m, m², L, g, s, min, h, d, Pa, bar, psi, V, A, m/s, km/h, mph, % and others \
         (docs/concepts/questions.md#units), with n, µ, m, k, M, G before them; one with a space goes in \"quotes\""
    )]
    Unit {
        /// The text that stands there.
        unit: String,
    },
    /// A unit of a call with several values.
    #[error("{call} has several values, whose units may differ: `in` is for one value")]
    UnitOfSeveral {
        /// The function.
        call: &'static str,
    },
    /// The mode of readings.
    #[error(
        "mode is not in the language: ask for a histogram, as in histogram(x, 16), and take its largest bin"
    )]
    Mode,
    /// A comparison with a device.
    #[error("names stand in brackets: where device in (a, b), where tag in (barn)")]
    NameDevices,
    /// A tag comes twice in a list.
    #[error("the tag {name} comes twice: remove one")]
    TagTwice {
        /// The tag.
        name: String,
    },
    /// A tag beside a group of the clock.
    #[error("tags stand beside groups of the clock: by day per tag")]
    TagInGroup,
    /// The number of ranked devices is out of range.
    #[error("expected a number of devices, a whole number from {} to {}, as in top 3 devices of mean(x)", limits::RANKED.start(), limits::RANKED.end())]
    RankedDevices,
    /// Devices are ranked by a call with several values.
    #[error(
        "{call} has several values, which give no order: rank devices by one, and select {call} behind it"
    )]
    RankedBySeveral {
        /// The function.
        call: &'static str,
    },
    /// A parameter in another place.
    #[error(
        "{parameter} stands where its value would change what devices send: parameters are for devices, tags, times and numbers of devices, \
         as in where device in ($room), x of $room, since $from or top $n devices; their names begin with a small letter"
    )]
    Parameter {
        /// The parameter, with its dollar sign.
        parameter: String,
    },
    /// A parameter in a question that is not filled in.
    #[error(
        "{parameter} is a parameter, which takes its value where the question is asked: sotto ask NAME --room kitchen"
    )]
    NotFilled {
        /// The parameter, with its dollar sign.
        parameter: String,
    },
    /// An alarm about the devices with a tag.
    #[error("an alarm names its devices: where device in (a, b)")]
    AlarmTag,
    /// An alarm about every channel.
    #[error("an alarm is about one channel: name it in the place of *")]
    AlarmStar,
    /// Channels of one call are of different devices.
    #[error(
        "both channels of a call are of the same device: write it behind each, as in covariance(x of boiler, y of boiler)"
    )]
    OtherScope,
    /// A clause that says nothing, as every call names its devices.
    #[error("every call names its devices, so that {clause} says nothing: leave it out")]
    IdleClause {
        /// The clause.
        clause: &'static str,
    },
    /// Tags beside a call that names two devices.
    #[error(
        "{call} names its devices, which no tag chooses: leave out where tag in, or ask for it by itself"
    )]
    TagBesideTwo {
        /// The function.
        call: &'static str,
    },
    /// A call of an alarm that names devices.
    #[error(
        "an alarm looks at each window of one device, and cannot compare it with another: leave out {of}, and choose devices with \
         where device in (a, b)"
    )]
    AlarmScope {
        /// The words behind the channel.
        of: String,
    },
    /// A comparison outside of `count`, `time` and `share`.
    #[error(
        "a comparison ({symbol}) stands inside count(…), time(…) or share(…), between a reading and a number: count(x {symbol} 80). \
         An alarm compares a statistic: sotto alarm add NAME 'mean(x) {symbol} 80'"
    )]
    Comparison {
        /// `<`, `<=`, `>` or `>=`.
        symbol: &'static str,
    },
    /// A condition without its comparison.
    #[error(
        "an alarm compares with a number: write > >= < or <= and a number after {after}, as in {after} > 80"
    )]
    AlarmComparison {
        /// The text before the place.
        after: String,
    },
    /// A comparison of two statistics.
    #[error("an alarm compares with a number: move the statistic to the left, as in mean(a) - mean(b) > 0")]
    AlarmLimit,
    /// A comparison of a channel with a state.
    #[error(
        "an alarm compares with a number: for a state write time({condition}) > 0.5, its hours in a window, or count({condition}) > 0, \
         any reading of it"
    )]
    AlarmState {
        /// The comparison with the state.
        condition: String,
    },
    /// The number of windows of a `for` clause is out of range.
    #[error(
        "expected a number of windows, a whole number from {} to {}, as in for 3 windows, or a time, as in for 90m",
        limits::ALARM_WINDOWS.start(), limits::ALARM_WINDOWS.end()
    )]
    AlarmWindows,
    /// A word of other tools for a time without readings.
    #[error(
        "a time without readings is called silent, not {word}: silent for 3h is about all readings of a device, temperature silent \
         for 3h about those of a channel"
    )]
    AlarmSilence {
        /// The word that stands there.
        word: String,
    },
    /// A silence without its time, or with a number of windows.
    #[error(
        "a silence is measured in time, as no window comes: write for and a duration, as in silent for 90m, silent for 3h or \
         temperature silent for 2d"
    )]
    SilenceTime,
    /// A clause of questions in an alarm.
    #[error(
        "{word} is no clause of an alarm: it looks at each window of each device. Expected for 3 windows, for 3h, per device or \
         where device in (a, b)"
    )]
    AlarmClause {
        /// The clause's first word.
        word: String,
    },
    /// A call without a single value in each window.
    #[error("{call} has no single value in a window, which an alarm compares: {instead}")]
    AlarmCall {
        /// The name of the function.
        call: &'static str,
        /// A remedy.
        instead: &'static str,
    },
    /// A comparison that does not exist.
    #[error("there is no comparison {symbol}: write != for readings that differ, as in count(x != 80)")]
    Equality {
        /// `!`.
        symbol: char,
    },
    /// A test for equality of a value of a polynomial or a model.
    #[error(
        "values of polynomials and models have an error, and are never equal to a number: compare them with > or <, as in \
         count(linear(model.json) > 80)"
    )]
    EqualityOfReal,
    /// A condition between two numbers in another form.
    #[error(
        "a condition between two numbers has the smaller one first, as in count(60 <= x <= 79); with one number the reading comes \
         first, as in count(x > 80)"
    )]
    Between,
    /// The share of a quantile is out of range.
    #[error("expected the share of a quantile: a number from 0 to 1, as in quantile(x, 0.95)")]
    Share,
    /// The number of bins is out of range.
    #[error(
        "expected a number of bins, a whole number from {} to {}, or edges, as in histogram(x, [0, 50, 100])",
        limits::BINS.start(), limits::BINS.end()
    )]
    Bins,
    /// The number of bands is out of range.
    #[error(
        "expected a number of bands, a whole number from {} to {}, as in spectrum(x, 8)",
        limits::BANDS.start(), limits::BANDS.end()
    )]
    Bands,
    /// The edges of a histogram are not in order, or too few.
    #[error(
        "the edges of a histogram are two numbers or more in ascending order: histogram(x, [0, 50, 100])"
    )]
    Edges,
    /// `^` between two terms.
    #[error("powers (^) are not in the language: multiply, as in mean(x) * mean(x), or ask for energy(x)")]
    Power,
    /// `'` around a name.
    #[error("names go in double quotes: \"name\"")]
    SingleQuote,
    /// A function's name without its parenthesis.
    #[error("{name} is a function: write ({arguments}) after it")]
    FunctionName {
        /// The function's name.
        name: &'static str,
        /// Arguments, as an example.
        arguments: &'static str,
    },
    /// A channel outside of a call.
    #[error("{name} stands outside of a function: ask for a statistic of it, such as mean({name})")]
    BareName {
        /// The channel's name.
        name: String,
    },
    /// A call where a channel belongs.
    #[error(
        "{name}(…) stands inside a function: only count, sum and mean take more than a channel, \
         polynomial(…) or linear(…)"
    )]
    NestedCall {
        /// The name of the inner function.
        name: String,
    },
    /// A selected expression without a statistic.
    #[error("this expression asks for no statistic: it needs at least one, such as mean(temperature)")]
    NoCall,
    /// A call with several values inside arithmetic.
    #[error("{call} gives several values, so it stands alone: select it without arithmetic{instead}")]
    VectorInArithmetic {
        /// The name of the function.
        call: &'static str,
        /// Another remedy, after a comma; may be empty.
        instead: String,
    },
    /// The divisor is the number 0.
    #[error("division by zero: change the divisor")]
    DivisionByZero,
    /// A function along groups that does not take one call.
    #[error(
        "{function} takes one call with a value, as in {function}(mean(x){}): arithmetic stands outside",
        if *function == "ewma" { ", 0.3" } else { "" }
    )]
    AlongCall {
        /// The function.
        function: &'static str,
    },
    /// A function along groups without groups.
    #[error("{function} goes along groups: add by hour, by day, by week or by month")]
    AlongWithoutGroups {
        /// The function.
        function: &'static str,
    },
    /// A function along groups of a tariff.
    #[error(
        "{function} takes no tariff: ask for tariff(energy(power), tariff.toml) by day and add up its rows"
    )]
    AlongTariff {
        /// The function.
        function: &'static str,
    },
    /// A tariff of a call that cannot be divided between prices.
    #[error(
        "{call} cannot be divided between prices: a tariff takes energy(x), sum(x), increase(x), time(x > 80) or count(x) of a channel, \
         as in tariff(energy(power), tariff.toml)"
    )]
    TariffCall {
        /// The function.
        call: String,
    },
    /// A tariff of an earlier group.
    #[error(
        "a tariff has no offset: ask for the earlier time by itself, as in tariff(energy(power), tariff.toml) during 2024-03"
    )]
    TariffOffset,
    /// The factor of an exponentially weighted mean is out of range.
    #[error("expected a factor above 0 up to 1, as in ewma(mean(x), 0.3): the newest group weighs so much")]
    Alpha,
    /// Daily means in groups or at times that are parts of a day.
    #[error(
        "degree_days adds the means of whole days: ask by day, week, month, quarter or year, by weekday or without groups, and \
         without where time"
    )]
    PartsOfDays,
    /// An invalid offset.
    #[error(
        "expected a time: a whole number from {} to {} and h, d, w, mo or y, as in mean(x) offset 1w, or previous for the group before",
        limits::EARLIER.start(), limits::EARLIER.end()
    )]
    Offset,
    /// A call that is of no earlier group.
    #[error("{call} follows the place of its own groups, and has no offset: take mean(x) offset 1w")]
    OffsetCall {
        /// The function.
        call: &'static str,
    },
    /// An offset that leads to no whole group.
    #[error("an offset of {offset} leads from groups by {by} to no whole ones: {instead}")]
    OffsetOfGroups {
        /// The offset.
        offset: String,
        /// The groups.
        by: String,
        /// A remedy.
        instead: &'static str,
    },
    /// `moving_average` without groups.
    #[error("moving_average averages groups: add by hour, by day, by week or by month")]
    NoGroups,
    /// A clause occurs twice.
    #[error("a second {clause} clause: keep one of them")]
    ClauseTwice {
        /// First word of the clause.
        clause: &'static str,
    },
    /// Two clauses contradict each other.
    #[error("{clause} and {other} exclude each other: keep one of them")]
    ClauseExcluded {
        /// First word of the second clause.
        clause: &'static str,
        /// First word of the first clause.
        other: &'static str,
    },
    /// [`Period::Between`](crate::question::Period::Between) without any moment.
    #[error("the period has neither a first nor a last moment: give one, or use all time")]
    EmptyPeriod,
    /// An invalid duration.
    #[error(
        "expected a duration: a whole number from 1 to 4294967295 and a unit, such as 90s, 30m, 12h, 7d or 4w"
    )]
    Duration,
    /// Groups of a length that does not divide a day.
    #[error(
        "groups of {length} would not begin at the same times every day: take a part of a day, such as 15m, 20m, 2h, 6h or 12h, or \
         by day, week, month, quarter or year"
    )]
    GroupLength {
        /// The length that stands there.
        length: String,
    },
    /// An invalid time of day.
    #[error(
        "expected a time of day: a beginning and another end, as in 22:00-06:00 or 18:00-24:00; the end is not in it"
    )]
    TimeOfDay,
    /// An invalid date in a condition.
    #[error(transparent)]
    Days(#[from] super::days::NotDays),
    /// A weekday or a month occurs twice in a condition.
    #[error("{name} comes twice: remove one")]
    MemberTwice {
        /// The name that stands there.
        name: String,
    },
    /// A call that depends on the order of readings, over times that are no whole.
    #[error("{call} needs a time without gaps: leave out {clause}")]
    TornTime {
        /// The function.
        call: &'static str,
        /// The clause that divides the time.
        clause: &'static str,
    },
    /// A call that names its devices, for each device.
    #[error("{call} is about the devices that it names: leave out per device")]
    DevicesNamed {
        /// The function.
        call: &'static str,
    },
    /// Conditions on the time, by window.
    #[error("windows are whole: ask by hour or by day where the time counts, or for all windows")]
    TimesOfWindows,
    /// The same recurring group twice.
    #[error("{word} comes twice: two different ones stand together, as in by weekday and hour of day")]
    CycleTwice {
        /// The words of the group.
        word: &'static str,
    },
    /// A day that not every month has.
    #[error("expected a day that every month has: a whole number from 1 to 28, as in by month from 21")]
    DayOfMonth,
    /// An invalid span of the calendar.
    #[error(
        "expected a span of the calendar: today, yesterday, this or last week, month, quarter or year, 2024, 2024-Q3, 2024-03 or \
         2024-03-05"
    )]
    During,
    /// An invalid moment.
    #[error(
        "expected a moment: 2014-01-01, 2014-01-01T12:30 or 2014-01-01T12:30:15, with Z or +02:00 for a time zone; spans stand after \
         during, as in during last month"
    )]
    When,
    /// All weights are 0.
    #[error("all weights are 0, so the sum is 0: change at least one")]
    ZeroWeights,
    /// The degree of a polynomial is out of range.
    #[error(
        "polynomial has {count} coefficients: give {} to {}, the constant term first",
        limits::POLYNOMIAL.start(), limits::POLYNOMIAL.end()
    )]
    Coefficients {
        /// Number of coefficients.
        count: usize,
    },
    /// The length of a moving average is out of range.
    #[error(
        "expected a number of groups: a whole number from {} to {}",
        limits::MOVING_GROUPS.start(), limits::MOVING_GROUPS.end()
    )]
    Groups,
    /// A number beyond the range of f64.
    #[error("the number is too {size} for a 64-bit float")]
    NumberSize {
        /// `large` or `small`.
        size: &'static str,
    },
    /// NaN or an infinity.
    #[error("{word} is not a finite number")]
    NotFinite {
        /// `NaN` or `inf`.
        word: &'static str,
    },
    /// A reserved word used as a name.
    #[error("{word} is a word of the language: to use it as a name, write it in quotes, \"{word}\"")]
    Reserved {
        /// The reserved word.
        word: &'static str,
    },
    /// Empty quotes.
    #[error("the name is empty")]
    NameEmpty,
    /// A name longer than the limit.
    #[error("the name has {bytes} bytes; at most {limit} are allowed")]
    NameTooLong {
        /// Bytes of the name.
        bytes: usize,
        /// Maximum.
        limit: usize,
    },
    /// A control character inside quotes.
    #[error("a name in quotes must not have control characters, such as the end of a line")]
    NameCharacter,
    /// A backslash before a character other than a quote or a backslash.
    #[error("after a backslash, expected a quote or a backslash")]
    Escape,
    /// No closing quote.
    #[error("these quotes are not closed: add '\"' after the name")]
    Unclosed,
    /// Two results have the same name.
    #[error("two results are called {name}: give one of them another name with as")]
    NameTwice {
        /// The repeated name.
        name: String,
    },
    /// A device occurs twice in the list.
    #[error("the device {name} comes twice: remove one")]
    DeviceTwice {
        /// The device's name.
        name: String,
    },
    /// More parts than the limit.
    #[error("more than {limit} {of} in one question: ask for less, or ask two questions")]
    TooMany {
        /// The kind of part, in the plural.
        of: &'static str,
        /// Maximum.
        limit: usize,
    },
    /// Too many nested parentheses.
    #[error("more than {} nested parentheses or functions", limits::NESTING)]
    Nesting,
    /// Too many nested or chained operators.
    #[error(
        "more than {} operators inside one another or in a chain: put parentheses around parts of it, \
         or select the parts one by one",
        limits::QUESTION_DEPTH
    )]
    Depth,
    /// The canonical text does not read back as the question that was built in Rust or read from JSON.
    #[error("the canonical text of this question reads back differently: build it with Question::select")]
    NotCanonical,
    /// The question states a scheme for exact results, and has none.
    #[error(
        "scheme = \"{scheme}\" is for exact results (sums, means, deviations, counts), and the question has none: leave it out. \
         Polynomials and models are evaluated under CKKS without it"
    )]
    NoExactResult {
        /// `bfv` or `bgv`.
        scheme: &'static str,
    },
    /// Two models are attached for one file.
    #[error("{file} has two different models: attach one with Question::attach_model, or name two files")]
    TwoModels {
        /// The model's file.
        file: String,
    },
    /// The attached model is invalid.
    #[error(transparent)]
    Model(#[from] super::ModelError),
    /// A message of a later check, from [`Places`](super::TextSpans).
    #[error("{message}")]
    Later {
        /// The later check's words.
        message: String,
    },
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

fn outside(expected: &str, found: &str) -> &'static str {
    let operator = matches!(found, "'+'" | "'-'" | "'*'" | "'/'");
    if operator && expected == "')'" { ", and arithmetic between calls, as in mean(a) - mean(b)" } else { "" }
}

/// The reason why a question is refused, and its place in the text.
///
/// `Display` draws the line with a caret. For a question built in Rust or read from JSON the line is its canonical
/// text.
///
/// ```
/// use sotto_owner::question::{Question, QuestionErrorKind};
///
/// let error = Question::parse("mean(boiler) by dya").unwrap_err();
/// assert!(matches!(error.kind, QuestionErrorKind::UnknownWord { near: Some("day"), .. }));
/// assert_eq!(error.column, 17);
/// assert!(error.to_string().ends_with("mean(boiler) by dya\n                    ^"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionError {
    /// The reason.
    pub kind: QuestionErrorKind,
    /// The byte of the error: a character boundary, at most the length of the text.
    pub offset: usize,
    /// The character of the error, counted from 1.
    pub column: usize,
    drawn: Caret,
}

impl QuestionError {
    /// Makes an error at byte `offset` of `text`, which must be a character boundary.
    pub(crate) fn new(kind: QuestionErrorKind, text: &str, offset: usize) -> Self {
        let (column, drawn) = Caret::new(text, offset);
        Self { kind, offset, column, drawn }
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}\n{}", self.column, self.kind, self.drawn)
    }
}

impl std::error::Error for QuestionError {}
