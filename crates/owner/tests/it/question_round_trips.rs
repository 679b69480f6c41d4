//! Random questions are written as text and JSON and read back; random bytes go through the parser.

use proptest::collection::vec;
use proptest::prelude::*;
use sotto_owner::question::{
    Along, AlongGroups, Bins, By, Call, Comparison, Condition, Cycle, Dates, DayRange, Days, DaysOf, Decay,
    Devices, Duration, DurationUnit, Earlier, EarlierUnit, ExactScheme, Expression, LinearModel, Measurand,
    OfDevice, Offset, Period, Priced, Question, RankedBy, Ranking, Scope, Selected, Side, Template, Times,
    Weekday, Weights, When,
};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z_][A-Za-z0-9_.]{0,12}",
        "\\PC{1,12}",
        "[\"\\\\ ]{1,4}",
        Just("by".into()),
        Just("mean".into()),
        Just("linear".into()),
        Just("NaN".into()),
        Just("*".into()),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
        (-9i32..9).prop_map(f64::from)
    ]
}

fn duration() -> impl Strategy<Value = Duration> {
    (1..=u32::MAX, prop::sample::select(&DurationUnit::ALL[..]))
        .prop_map(|(count, unit)| Duration { count, unit })
}

fn when() -> impl Strategy<Value = When> {
    let date = (0..=9999u32, 1..=12u32, 1..=28u32)
        .prop_map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}"));
    let time = prop_oneof![
        Just(""),
        Just("T00:00"),
        Just("T23:59:59Z"),
        Just("T12:30+02:00"),
        Just("T12:30:15-11:00")
    ];
    (date, time).prop_map(|(date, time)| (date + time).parse().unwrap())
}

fn model() -> impl Strategy<Value = LinearModel> {
    (number(), prop::collection::btree_map("[a-z]{1,4}|\\PC{1,4}", number(), 1..4))
        .prop_map(|(intercept, coefficients)| LinearModel { intercept, coefficients })
}

fn derived() -> impl Strategy<Value = Measurand> {
    prop_oneof![
        (name(), vec(number(), 2..=9))
            .prop_map(|(channel, coefficients)| Measurand::polynomial(channel, coefficients)),
        "[a-z0-9_./-]{1,9}|\\PC{1,9}".prop_map(Measurand::linear),
    ]
}

fn reading() -> impl Strategy<Value = Measurand> {
    prop_oneof![name().prop_map(Measurand::Channel), derived()]
}

fn weights() -> impl Strategy<Value = Weights> {
    let each =
        vec(number(), 1..6).prop_filter("all 0", |weights| weights.iter().any(|weight| *weight != 0.0));
    prop_oneof![each.prop_map(Weights::Each), duration().prop_map(Weights::HalfLife)]
}

fn condition() -> impl Strategy<Value = Condition> {
    (reading(), prop::sample::select(&Comparison::ALL[..]), number()).prop_map(
        |(reading, comparison, limit)| {
            let is_channel = matches!(reading, Measurand::Channel(_));
            let comparison =
                if comparison.is_equality() && !is_channel { Comparison::Greater } else { comparison };
            // Some name a state.
            let state = (comparison.is_equality() && limit > 0.0).then(|| format!("state {}", limit as u8));
            let limit = if state.is_some() { 0.0 } else { limit };
            Condition { reading, comparison, limit, state, from: None }
        },
    )
}

fn between() -> impl Strategy<Value = Condition> {
    (reading(), number(), number(), any::<[bool; 2]>())
        .prop_filter("two limits", |(_, one, other, _)| one != other)
        .prop_map(|(reading, one, other, [lower, upper])| {
            let from = if lower { Comparison::AtLeast } else { Comparison::Greater };
            let to = if upper { Comparison::AtMost } else { Comparison::Less };
            Condition::new(reading, to, one.max(other)).and_from(from, one.min(other))
        })
}

/// Channels of two devices.
fn of_two() -> impl Strategy<Value = [OfDevice; 2]> {
    let devices = (name(), name()).prop_filter("two devices", |(one, other)| one != other);
    (devices, name(), name())
        .prop_map(|((one, other), x, y)| [OfDevice::new(x, one), OfDevice::new(y, other)])
}

/// A condition of `longest` and `episodes`.
fn on_a_channel() -> impl Strategy<Value = Condition> {
    (prop_oneof![condition(), between()], name())
        .prop_map(|(condition, name)| Condition { reading: Measurand::Channel(name), ..condition })
}

fn bins() -> impl Strategy<Value = Bins> {
    let edges = vec(number(), 2..6).prop_map(|mut edges| {
        edges.sort_by(f64::total_cmp);
        // Zero and its negative are equal.
        edges.dedup();
        edges
    });
    let edges = edges.prop_filter("two edges", |edges| edges.len() > 1);
    prop_oneof![(2..=1024u32).prop_map(Bins::Equal), edges.prop_map(Bins::Edges)]
}

fn scalar() -> impl Strategy<Value = Call> {
    prop_oneof![
        reading().prop_map(Call::count),
        reading().prop_map(Call::sum),
        reading().prop_map(Call::mean),
        name().prop_map(Call::variance),
        name().prop_map(Call::stddev),
        prop_oneof![
            name().prop_map(Call::rms),
            name().prop_map(Call::crest),
            name().prop_map(Call::skewness),
            name().prop_map(Call::kurtosis),
        ],
        name().prop_map(Call::energy),
        (name(), number()).prop_map(|(x, base)| Call::degree_days_below(x, base)),
        (name(), number()).prop_map(|(x, base)| Call::degree_days_above(x, base)),
        (name(), name()).prop_map(|(x, y)| Call::covariance(x, y)),
        (name(), name()).prop_map(|(x, y)| Call::correlation(x, y)),
        (name(), weights()).prop_map(|(channel, weights)| Call::weighted_sum(channel, weights)),
        (name(), 2..=1000u32).prop_map(|(channel, groups)| Call::moving_average(channel, groups)),
        prop_oneof![condition(), between()].prop_map(Call::count_where),
        prop_oneof![condition(), between()].prop_map(Call::time_where),
        prop_oneof![condition(), between()].prop_map(Call::share),
        of_two().prop_map(|[x, y]| Call::covariance_of(x, y)),
        of_two().prop_map(|[x, y]| Call::correlation_of(x, y)),
        name().prop_map(Call::first),
        name().prop_map(Call::last),
        name().prop_map(Call::time_of_max),
        name().prop_map(Call::time_of_min),
        on_a_channel().prop_map(Call::longest),
        on_a_channel().prop_map(Call::episodes),
        (name(), any::<bool>(), number()).prop_map(|(channel, below, limit)| {
            Call::degree_hours(channel, if below { Side::Below } else { Side::Above }, limit)
        }),
        (name(), name()).prop_map(|(x, y)| Call::min_difference(x, y)),
        (name(), name()).prop_map(|(x, y)| Call::max_difference(x, y)),
        name().prop_map(Call::min),
        name().prop_map(Call::max),
        name().prop_map(Call::range),
        name().prop_map(Call::coverage),
        (name(), 0.0..=1.0f64).prop_map(|(channel, share)| Call::quantile(channel, share)),
    ]
}

fn ranking() -> impl Strategy<Value = Ranking> {
    (any::<bool>(), 1..=1000_u32).prop_map(|(largest, devices)| Ranking {
        by: if largest { RankedBy::Largest } else { RankedBy::Smallest },
        devices,
    })
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        name().prop_map(Scope::Device),
        prop::sample::select(&["tag", "all", "of", "devices"][..])
            .prop_map(|name| Scope::Device(name.to_owned())),
        name().prop_map(Scope::Tag),
        Just(Scope::AllDevices),
    ]
}

/// Calls of devices that they name. A model has no channel in its text.
fn scoped() -> impl Strategy<Value = Expression> {
    (scalar(), scope()).prop_map(|(call, of)| if may_name(&call) { call.of_devices(of) } else { call.into() })
}

/// Returns true if devices may stand behind the channels of a call: a model has no channel in its text, and channels of two devices
/// have theirs.
fn may_name(call: &Call) -> bool {
    !call.channels().is_empty() && !names_two(call)
}

fn names_two(call: &Call) -> bool {
    call.to_string().contains(" of ")
}

/// The devices that a call names.
fn devices_of(call: &Call, of: Option<Scope>) -> Option<Scope> {
    of.filter(|_| may_name(call))
}

fn along() -> impl Strategy<Value = Along> {
    let function = prop_oneof![
        Just(AlongGroups::Cumulative),
        Just(AlongGroups::Difference),
        Just(AlongGroups::Rate),
        (0.0..1.0f64).prop_map(|alpha| AlongGroups::Ewma(Decay::Alpha(1.0 - alpha))),
        duration().prop_map(|time| AlongGroups::Ewma(Decay::HalfLife(time))),
    ];
    (function, scalar(), prop::option::of(scope())).prop_map(|(function, of, devices)| {
        let devices = devices_of(&of, devices);
        Along { function, of, devices }
    })
}

/// Calls of earlier groups, by day.
fn offset() -> impl Strategy<Value = Offset> {
    use EarlierUnit::{Day, Month, Week, Year};
    let time = (1..=10_000_u32, prop::sample::select(&[Day, Week, Month, Year][..]));
    let earlier = prop_oneof![
        3 => time.prop_map(|(count, unit)| Earlier::Time { count, unit }),
        1 => Just(Earlier::Previous),
    ];
    let of = scalar()
        .prop_filter("of one group", |of| !["moving_average", "weighted_sum"].contains(&of.function()));
    (of, earlier, prop::option::of(scope())).prop_map(|(of, earlier, devices)| {
        let devices = devices_of(&of, devices);
        Offset { of, devices, earlier }
    })
}

/// Costs of calls that add up.
fn priced() -> impl Strategy<Value = Priced> {
    let of = prop_oneof![
        name().prop_map(Call::energy),
        name().prop_map(Call::increase),
        name().prop_map(Call::sum),
        name().prop_map(Call::count),
        on_a_channel().prop_map(Call::time_where),
        on_a_channel().prop_map(Call::count_where),
    ];
    let file = "[a-z0-9_./-]{1,9}|\\PC{1,9}";
    (of, prop::option::of(scope()), file)
        .prop_map(|(of, devices, file)| Priced { devices, ..Priced::new(of, file) })
}

fn arithmetic() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        8 => number().prop_map(Expression::Number),
        8 => scalar().prop_map(Expression::Call),
        4 => scoped(),
        1 => along().prop_map(Expression::Along),
        1 => offset().prop_map(Expression::Offset),
    ];
    leaf.prop_recursive(6, 24, 2, |inner| {
        let two = (inner.clone(), inner.clone(), 0..4);
        prop_oneof![
            1 => inner.prop_map(|of| -of),
            4 => two.prop_map(|(left, right, operator)| match operator {
                0 => left + right,
                1 => left - right,
                2 => left * right,
                // A divisor that is the number 0 is refused, as is arithmetic that gives it.
                _ if !matches!(&right, Expression::Number(number) if *number != 0.0)
                    && right.calls().next().is_none() =>
                {
                    left / 1.0
                }
                _ => left / right,
            }),
        ]
    })
}

fn expression() -> impl Strategy<Value = Expression> {
    prop_oneof![
        8 => arithmetic().prop_filter("a call", |expression| expression.calls().next().is_some()),
        1 => derived().prop_map(|reading| Call::values(reading).into()),
        1 => (name(), name()).prop_map(|(y, x)| Call::regression(y, x).into()),
        1 => (name(), bins()).prop_map(|(channel, bins)| Call::histogram(channel, bins).into()),
        1 => (name(), proptest::option::of(duration()))
            .prop_map(|(channel, longest)| Call::interpolate(channel, longest).into()),
        1 => (name(), 2..=24u32).prop_map(|(channel, bands)| Call::spectrum(channel, bands).into()),
        1 => of_two().prop_map(|[y, x]| Call::regression_of(y, x).into()),
    ]
}

fn by() -> impl Strategy<Value = By> {
    const LENGTHS: [&str; 10] = ["1s", "90s", "1m", "15m", "20m", "30m", "90m", "2h", "6h", "12h"];
    prop_oneof![
        prop::sample::select(&By::WORDS[..]),
        prop::sample::select(&LENGTHS[..]).prop_map(|length| By::Every(length.parse().unwrap())),
        (2..=28_u8).prop_map(By::MonthFrom),
        prop::sample::select(&Cycle::ALL[..]).prop_map(|first| By::Recurring { first, second: None }),
        (prop::sample::select(&Cycle::ALL[..]), prop::sample::select(&Cycle::ALL[..]))
            .prop_map(|(first, second)| By::Recurring { first, second: (first != second).then_some(second) }),
    ]
}

fn dates() -> impl Strategy<Value = Dates> {
    const RANGES: [&str; 4] =
        ["2024-12-25", "2024-02-29", "2024-12-24..2025-01-01", "0001-01-01..9999-12-31"];
    let range = prop::sample::select(&RANGES[..]).prop_map(|range| range.parse::<DayRange>().unwrap());
    let list =
        prop::collection::btree_set(range, 1..4).prop_map(|days| DaysOf::List(days.try_into().unwrap()));
    let file = "[a-z0-9_./-]{1,9}|\\PC{1,9}".prop_map(|name| DaysOf::File { name, days: None });
    (any::<bool>(), prop_oneof![list, file]).prop_map(|(not, days)| Dates { not, days })
}

fn times() -> impl Strategy<Value = Times> {
    const DAY_TIMES: [&str; 4] = ["22:00-06:00", "00:00-24:00", "06:30-18:15", "23:59-00:01"];
    (
        prop::option::of(prop::sample::select(&DAY_TIMES[..])),
        prop::collection::btree_set(prop::sample::select(&Weekday::ALL[..]), 0..4),
        prop::collection::btree_set(1..=12_u8, 0..4),
        prop::option::of(dates()),
    )
        .prop_map(|(time, weekdays, months, dates)| Times {
            time: time.map(|time| time.parse().unwrap()),
            weekdays,
            months,
            dates,
        })
}

fn period() -> impl Strategy<Value = Period> {
    prop_oneof![
        Just(Period::All),
        duration().prop_map(Period::Over),
        prop::sample::select(
            &[
                "today",
                "yesterday",
                "this week",
                "last month",
                "last quarter",
                "this year",
                "2024",
                "0042-Q3",
                "2024-03",
                "2024-02-29"
            ][..]
        )
        .prop_map(|span| Period::During(span.parse().unwrap())),
        when().prop_map(|since| Period::Between { since: Some(since), until: None }),
        prop::option::of(when()).prop_flat_map(|since| when()
            .prop_map(move |until| Period::Between { since: since.clone(), until: Some(until) })),
    ]
}

fn without_repeats(mut names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

prop_compose! {
    pub(crate) fn question()(
        select in vec((expression(), prop::option::of(prop::sample::select(&["°F", "kWh/m²", "%", "m / s"][..])), prop::option::of(name())), 1..5),
        period in period(),
        by in prop::option::of(by()),
        each in 0..3_usize,
        shared in any::<bool>(),
        only in prop::option::of(vec(name(), 1..5)),
        tags in prop_oneof![2 => Just(Vec::new()), 1 => vec(name(), 1..4)],
        times in prop_oneof![2 => Just(Times::default()), 1 => times()],
        priced in prop::option::weighted(0.3, (priced(), prop::option::of(number()))),
        ranking in prop_oneof![3 => Just(None), 1 => ranking().prop_map(Some)],
    ) -> Question {
        let mut select: Vec<Selected> =
            select.into_iter().map(|(expression, unit, name)| {
                let is_one = expression.calls().all(|call| !call.is_vector());
                let unit = unit.filter(|_| is_one).map(str::to_owned);
                Selected { expression, unit, name }
            }).collect();
        let mut seen = std::collections::BTreeSet::new();
        select.retain(|selected| seen.insert(selected.name()));
        let mut question = Question {
            select,
            ranking: None,
            period,
            by,
            grouping: [Devices::Across, Devices::Each, Devices::Tag][each],
            only: only.map(without_repeats),
            tags: without_repeats(tags),
            times,
            shared,
            scheme: None,
            remarks: Vec::new(),
        };
        let averages = question.calls().any(|call| call.function() == "moving_average")
            || question.select.iter().any(|selected| selected.expression.along().next().is_some());
        // Others are refused.
        if averages && question.by.is_none_or(|by| by == By::Window || by.is_recurring()) {
            question.by = Some(By::Day);
        }
        if question.select.iter().any(|selected| selected.expression.offsets().next().is_some()) {
            question.by = Some(By::Day);
        }
        let has = |question: &Question, name: &str| question.calls().any(|call| call.function() == name);
        if has(&question, "degree_days") {
            question.by = Some(By::Day);
            question.times.time = None;
            question.select.retain(|selected| selected.expression.calls().all(|call| call.function() != "weighted_sum"));
            if question.select.is_empty() {
                question.select.push(Call::mean("x").into());
            }
        }
        let weighs = question.calls().any(|call| call.function() == "weighted_sum");
        if weighs || question.by == Some(By::Window) {
            question.times = Times::default();
        }
        if weighs && question.by.is_some_and(|by| by.is_recurring()) {
            question.by = None;
        }
        // Beside others a cost is refused.
        let torn = ["weighted_sum", "degree_days"];
        let is_torn = |call: &Call| call.is_of_readings() || torn.contains(&call.function());
        if let Some((priced, factor)) = priced
            && question.by != Some(By::Window)
            && !question.calls().any(is_torn)
        {
            let of = Expression::from(priced);
            let selected: Selected = factor.map_or_else(|| of.clone(), |factor| of.clone() * factor).into();
            if question.select.iter().all(|other| other.name() != selected.name()) {
                question.select.insert(0, selected);
            }
        }
        // The first result gives the order, and devices have rows.
        let is_one = question.select[0].expression.calls().all(|call| !call.is_vector());
        question.ranking = ranking.filter(|_| is_one);
        if question.ranking.is_some() {
            question.grouping = Devices::Each;
        }
        // Then clauses about devices say nothing.
        if question.calls_of().all(|(_, of)| matches!(of, Some(Scope::Device(_) | Scope::Tag(_)))) {
            (question.grouping, question.only, question.tags) = (Devices::Across, None, Vec::new());
            question.ranking = None;
        }
        if question.calls().any(names_two) {
            (question.grouping, question.ranking, question.tags) = (Devices::Across, None, Vec::new());
        }
        question
    }
}

/// Fragments of the language, so that random texts get past the first word.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "mean(x)",
        "mean",
        "(",
        ")",
        ",",
        "x",
        "\"",
        "\\",
        "linear(",
        "polynomial(x,",
        "[1,",
        "2]",
        "-",
        "+",
        "/",
        "0",
        "over",
        "7d",
        "since",
        "during",
        "last",
        "2024-Q3",
        "2014-01-01",
        "until",
        "by",
        "day",
        "15m",
        "month from",
        "hour of day",
        "weekday",
        "and",
        "weekday in (sat",
        "time 22:00-06:00",
        "month in (",
        "date in (",
        "date not in",
        "2024-12-24..2025-01-01",
        "holidays.txt",
        "per",
        "device",
        "where",
        "device in (",
        "tag in (",
        "top 3 devices of",
        "bottom",
        "*",
        "$room",
        "device in ($room)",
        "over $long",
        "tag",
        "of",
        "mean(x of",
        "all",
        "devices",
        "as",
        "~",
        "weighted_sum(x,",
        "half_life",
        "1e",
        ".",
        "é",
        "\n",
        "<",
        "regression(y ~ x)",
        "moving_average(x, 3)",
        "share(60 <=",
        "x <= 79",
        "cumulative(",
        "offset",
        "1mo",
        "degree_days(x, below",
        "previous",
        "ewma(mean(x),",
        "rate(sum(x))",
    ];
    (vec(prop::sample::select(words.to_vec()), 0..16), prop_oneof![Just(""), Just(" ")])
        .prop_map(|(words, between)| words.join(between))
}

fn never_panics(text: &str) {
    if let Ok(template) = Template::read(text) {
        _ = template.general();
        let values =
            template.parameters().into_iter().map(|name| (name.to_owned(), text.to_owned())).collect();
        _ = template.filled(&values);
    }
    _ = Days::read(text);
    match Question::parse_with_places(text) {
        Ok((question, places)) => {
            assert_eq!(places.text(), text);
            assert_eq!(question.to_string().parse::<Question>(), Ok(question), "{text}");
        }
        Err(refused) => {
            assert!(text.is_char_boundary(refused.offset), "{text}");
            assert_eq!(text[..refused.offset].chars().count() + 1, refused.column);
            assert_eq!(refused.to_string().lines().count(), 3, "{refused}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn text_says_the_same(question in question()) {
        let text = question.to_string();
        let read = Question::parse(&text).unwrap_or_else(|refused| panic!("{text}\n{refused}"));
        prop_assert_eq!(&read, &question);
        prop_assert_eq!(read.to_string(), text);
        question.check().unwrap();
    }

    #[test]
    fn json_says_the_same(mut question in question(), model in model()) {
        if let Some(file) = question.missing_models().first() {
            question.attach_model(file, &model).unwrap();
        }
        let json = serde_json::to_string(&question).unwrap();
        let read = serde_json::from_str::<Question>(&json).unwrap_or_else(|refused| panic!("{json}\n{refused}"));
        prop_assert_eq!(read, question);
    }

    #[test]
    fn a_scheme_is_in_the_json_and_not_in_the_text(mut question in question(), bfv in any::<bool>()) {
        let text = question.to_string();
        question.scheme = Some(if bfv { ExactScheme::Bfv } else { ExactScheme::Bgv });
        prop_assert_eq!(question.to_string(), text);
        let json = serde_json::to_string(&question).unwrap();
        let read = serde_json::from_str::<Question>(&json);
        // Polynomials and models alone are refused.
        match question.check() {
            Ok(()) => prop_assert_eq!(read.unwrap(), question),
            Err(refused) => prop_assert!(read.unwrap_err().to_string().contains(&refused.kind.to_string())),
        }
    }

    #[test]
    fn places_are_those_of_the_canonical_text(question in question()) {
        let places = question.places().unwrap();
        for (index, (call, of)) in question.calls_of().enumerate() {
            let at = places.error_at_call(index, "here").offset;
            let written = match of {
                Some(of) => call.clone().of_devices(of.clone()).to_string(),
                None => call.to_string(),
            };
            prop_assert!(places.text()[at..].starts_with(&written));
        }
        for (index, selected) in question.select.iter().enumerate() {
            let at = places.error_at_selected(index, "here").offset;
            prop_assert!(places.text()[at..].starts_with(&selected.to_string()));
        }
    }

    #[test]
    fn random_texts_never_panic(text in "\\PC{0,60}") {
        never_panics(&text);
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..80)) {
        never_panics(&String::from_utf8_lossy(&bytes));
        _ = serde_json::from_slice::<Question>(&bytes);
        _ = LinearModel::parse(&bytes);
    }

    #[test]
    fn random_words_never_panic(text in soup()) {
        never_panics(&text);
    }

    #[test]
    fn a_changed_question_never_panics(question in question(), at in any::<prop::sample::Index>(), with in "\\PC?") {
        let mut characters: Vec<char> = question.to_string().chars().collect();
        let at = at.index(characters.len());
        characters.splice(at..=at, with.chars());
        never_panics(&characters.into_iter().collect::<String>());
    }
}
