//! Questions: texts and their values, JSON, the builder, evaluation.

use std::collections::BTreeSet;

use sotto_owner::question::limits;
use sotto_owner::question::{
    Along, By, Call, CallArithmetic, Clause, Comparison, Condition, Cycle, Decay, Devices, Duration,
    DurationUnit, Earlier, EarlierUnit, Expression, LinearModel, Measurand, ModelError, Offset, Period,
    Priced, Question, QuestionErrorKind, Selected, Times, Weekday, Weights,
};

fn parsed(text: &str) -> Question {
    Question::parse(text).unwrap_or_else(|refused| panic!("{text}\n{refused}"))
}

fn expression(text: &str) -> Expression {
    parsed(text).select.remove(0).expression
}

#[test]
fn every_call_is_read() {
    let text = |channel: &str| channel.to_string();
    let polynomial = || Measurand::polynomial("x", [1.0, -2.5, 1e-7]);
    let hours = Duration::new(6, DurationUnit::Hour);
    for (written, canonical, call) in [
        ("count(x)", "count(x)", Call::count(Measurand::Channel(text("x")))),
        ("sum( x )", "sum(x)", Call::sum("x")),
        ("mean(hall.t_1)", "mean(hall.t_1)", Call::mean("hall.t_1")),
        ("avg(x)", "mean(x)", Call::mean("x")),
        ("mean(\"day °C\")", "mean(\"day °C\")", Call::mean("day °C")),
        ("mean(\"by\")", "mean(\"by\")", Call::mean("by")),
        ("mean(mean)", "mean(mean)", Call::mean("mean")),
        ("mean(linear)", "mean(linear)", Call::mean("linear")),
        (r#"mean("a\"b\\")"#, r#"mean("a\"b\\")"#, Call::mean("a\"b\\")),
        ("mean(\"plain\")", "mean(plain)", Call::mean("plain")),
        ("sum(polynomial(x,[1,-2.5,1e-7]))", "sum(polynomial(x, [1, -2.5, 1e-7]))", Call::sum(polynomial())),
        ("count(linear(m-1.json))", "count(linear(m-1.json))", Call::count(Measurand::linear("m-1.json"))),
        ("variance(x)", "variance(x)", Call::variance("x")),
        ("var(x)", "variance(x)", Call::variance("x")),
        ("stddev(x)", "stddev(x)", Call::stddev("x")),
        ("std(x)", "stddev(x)", Call::stddev("x")),
        ("rms(x)", "rms(x)", Call::rms("x")),
        ("crest_factor(x)", "crest(x)", Call::crest("x")),
        ("skew(x)", "skewness(x)", Call::skewness("x")),
        ("kurt(x)", "kurtosis(x)", Call::kurtosis("x")),
        ("energy(x)", "energy(x)", Call::energy("x")),
        ("covariance(x,y)", "covariance(x, y)", Call::covariance("x", "y")),
        ("correlation(x, y)", "correlation(x, y)", Call::correlation("x", "y")),
        ("regression(y~x)", "regression(y ~ x)", Call::regression("y", "x")),
        (
            "weighted_sum(x, [0, 1e20, -3])",
            "weighted_sum(x, [0, 1e20, -3])",
            Call::weighted_sum("x", Weights::Each(vec![0.0, 1e20, -3.0])),
        ),
        (
            "weighted_sum(half_life, half_life 6h)",
            "weighted_sum(half_life, half_life 6h)",
            Call::weighted_sum("half_life", Weights::HalfLife(hours)),
        ),
        ("polynomial(x, [1, -2.5, 1e-7])", "polynomial(x, [1, -2.5, 1e-7])", Call::values(polynomial())),
        (
            "linear(models/2024.json)",
            "linear(models/2024.json)",
            Call::values(Measurand::linear("models/2024.json")),
        ),
        ("linear(\"my model\")", "linear(\"my model\")", Call::values(Measurand::linear("my model"))),
        ("(rms(x))", "rms(x)", Call::rms("x")),
        ("count(x>80)", "count(x > 80)", Call::count_where(Condition::new("x", Comparison::Greater, 80.0))),
        (
            "count(x <= -0.5)",
            "count(x <= -0.5)",
            Call::count_where(Condition::new("x", Comparison::AtMost, -0.5)),
        ),
        (
            "count(60<=x<79.5)",
            "count(60 <= x < 79.5)",
            Call::count_where(
                Condition::new("x", Comparison::Less, 79.5).and_from(Comparison::AtLeast, 60.0),
            ),
        ),
        (
            "time(-5 < linear(m.json) <= -1)",
            "time(-5 < linear(m.json) <= -1)",
            Call::time_where(
                Condition::new(Measurand::linear("m.json"), Comparison::AtMost, -1.0)
                    .and_from(Comparison::Greater, -5.0),
            ),
        ),
        ("share(x>80)", "share(x > 80)", Call::share(Condition::new("x", Comparison::Greater, 80.0))),
        (
            "fraction(3<=x<=3)",
            "share(3 <= x <= 3)",
            Call::share(Condition::new("x", Comparison::AtMost, 3.0).and_from(Comparison::AtLeast, 3.0)),
        ),
        (
            "longest(60<=x<=79)",
            "longest(60 <= x <= 79)",
            Call::longest(Condition::new("x", Comparison::AtMost, 79.0).and_from(Comparison::AtLeast, 60.0)),
        ),
        (
            "episodes(-5<x<-1)",
            "episodes(-5 < x < -1)",
            Call::episodes(Condition::new("x", Comparison::Less, -1.0).and_from(Comparison::Greater, -5.0)),
        ),
        ("time(x<1e9)", "time(x < 1000000000)", Call::time_where(Condition::new("x", Comparison::Less, 1e9))),
        (
            "time(\"a b\" >=3)",
            "time(\"a b\" >= 3)",
            Call::time_where(Condition::new("a b", Comparison::AtLeast, 3.0)),
        ),
        (
            "count(linear(m.json) > 80)",
            "count(linear(m.json) > 80)",
            Call::count_where(Condition::new(Measurand::linear("m.json"), Comparison::Greater, 80.0)),
        ),
        (
            "time(polynomial(x, [0, 1]) < -2)",
            "time(polynomial(x, [0, 1]) < -2)",
            Call::time_where(Condition::new(Measurand::polynomial("x", [0.0, 1.0]), Comparison::Less, -2.0)),
        ),
        ("min(x)", "min(x)", Call::min("x")),
        ("max(min)", "max(min)", Call::max("min")),
        ("quantile(x,0.95)", "quantile(x, 0.95)", Call::quantile("x", 0.95)),
        ("degree_days(x,below 18)", "degree_days(x, below 18)", Call::degree_days_below("x", 18.0)),
        ("degree_days(x, above -2.5)", "degree_days(x, above -2.5)", Call::degree_days_above("x", -2.5)),
        ("median(x)", "quantile(x, 0.5)", Call::quantile("x", 0.5)),
        ("histogram(x,16)", "histogram(x, 16)", Call::histogram("x", 16)),
        ("histogram(x,[-1,0,2.5])", "histogram(x, [-1, 0, 2.5])", Call::histogram("x", vec![-1.0, 0.0, 2.5])),
    ] {
        let question = parsed(written);
        assert_eq!(question.select, [Selected::from(call)], "{written}");
        assert_eq!(question.to_string(), canonical);
        assert_eq!(question.select[0].name(), canonical);
    }
    let moving = parsed("moving_average(x, 7) by day");
    assert_eq!(moving.select, [Call::moving_average("x", 7).into()]);
}

#[test]
fn an_offset_belongs_to_one_call() {
    let time = |count, unit| Earlier::Time { count, unit };
    for (written, earlier) in [
        ("24h", time(24, EarlierUnit::Hour)),
        ("1d", time(1, EarlierUnit::Day)),
        ("52w", time(52, EarlierUnit::Week)),
        ("3mo", time(3, EarlierUnit::Month)),
        ("10000y", time(10_000, EarlierUnit::Year)),
        ("previous", Earlier::Previous),
    ] {
        let question = parsed(&format!("mean(x)  offset {written} over 7d by hour"));
        let offset = Offset { of: Call::mean("x"), devices: None, earlier };
        assert_eq!(question.select, [Selected::from(offset)], "{written}");
        assert_eq!(question.to_string(), format!("mean(x) offset {written} over 7d by hour"));
        let json = serde_json::to_string(&question).unwrap();
        assert_eq!(serde_json::from_str::<Question>(&json).unwrap(), question);
    }
    // It binds tighter than any operator.
    let more = parsed("-mean(x1) * 2 + mean(x2) offset 1w in °F as more by day");
    assert_eq!(more.select[0].expression.fold(&mut Numbers), Ok(198.0));
    assert_eq!(more.to_string(), "-mean(x1) * 2 + mean(x2) offset 1w in °F as more by day");
    assert_eq!(more.calls().count(), 2);
    let json = r#"{"select":[{"expression":{"offset":{"of":{"rms":"x"},"earlier":{"time":{"count":1,"unit":"month"}}}}}],"by":"month"}"#;
    assert_eq!(serde_json::from_str::<Question>(json).unwrap(), parsed("rms(x) offset 1mo by month"));
    for (json, word) in [
        (json.replace("\"count\":1", "\"count\":0"), "from 1 to 10000"),
        (json.replace("\"by\":\"month\"", "\"by\":\"week\""), "take 1w, 52w or previous"),
        (json.replace("\"earlier\"", "\"groups\":2,\"earlier\""), "unknown field"),
    ] {
        let refused = serde_json::from_str::<Question>(&json).unwrap_err().to_string();
        assert!(refused.contains(word), "{json}: {refused}");
    }
}

#[test]
fn functions_along_groups_take_one_call() {
    let week: Duration = "1w".parse().unwrap();
    for (written, canonical, along) in [
        ("cumulative(energy(x))", "", Along::cumulative(Call::energy("x"))),
        ("difference( mean(x) )", "difference(mean(x))", Along::difference(Call::mean("x"))),
        ("rate(increase(x))", "", Along::rate(Call::increase("x"))),
        ("ewma(mean(x),.3)", "ewma(mean(x), 0.3)", Along::ewma(Call::mean("x"), Decay::Alpha(0.3))),
        (
            "ewma(median(x), half_life 1w)",
            "ewma(quantile(x, 0.5), half_life 1w)",
            Along::ewma(Call::quantile("x", 0.5), Decay::HalfLife(week)),
        ),
    ] {
        let canonical = if canonical.is_empty() { written } else { canonical };
        let question = parsed(&format!("{written} by day"));
        assert_eq!(question.select, [Selected::from(along.clone())], "{written}");
        assert_eq!(question.to_string(), format!("{canonical} by day"));
        assert_eq!(question.calls().collect::<Vec<_>>(), [&along.of]);
        let json = serde_json::to_string(&question).unwrap();
        assert_eq!(serde_json::from_str::<Question>(&json).unwrap(), question);
    }
    let sum = parsed("2 * cumulative(sum(x2)) - mean(x3) by day");
    assert_eq!(sum.select[0].expression.fold(&mut Numbers), Ok(37.0));
    let json =
        r#"{"select":[{"expression":{"along":{"function":"cumulative","of":{"rms":"x"}}}}],"by":"day"}"#;
    assert_eq!(serde_json::from_str::<Question>(json).unwrap(), parsed("cumulative(rms(x)) by day"));
    for (json, word) in [
        (json.replace("\"day\"", "\"window\""), "along groups"),
        (json.replace("\"cumulative\"", r#"{"ewma":{"alpha":0}}"#), "above 0 up to 1"),
        (
            json.replace(r#"{"rms":"x"}"#, r#"{"histogram":{"channel":"x","bins":{"equal":4}}}"#),
            "several values",
        ),
        (json.replace("along\":{", "along\":{\"by\":1,"), "unknown field"),
    ] {
        let refused = serde_json::from_str::<Question>(&json).unwrap_err().to_string();
        assert!(refused.contains(word), "{json}: {refused}");
    }
}

#[test]
fn every_clause_is_read_in_any_order() {
    let since = Period::Between { since: Some("2014-01-01".parse().unwrap()), until: None };
    let both = Period::Between {
        since: Some("2014-01-01T12:30".parse().unwrap()),
        until: Some("2016-02-29T23:59:59+02:00".parse().unwrap()),
    };
    let until = Period::Between { since: None, until: Some("2014-01-01T00:00Z".parse().unwrap()) };
    let plain = Question::select(Call::mean("x")).build().unwrap();
    let over = |count, unit| Question { period: Period::Over(Duration::new(count, unit)), ..plain.clone() };
    for (text, expected) in [
        ("mean(x)", plain.clone()),
        ("mean(x) over 90s", over(90, DurationUnit::Second)),
        ("mean(x) over 30m", over(30, DurationUnit::Minute)),
        ("mean(x) over 12h", over(12, DurationUnit::Hour)),
        ("mean(x) over 7d", over(7, DurationUnit::Day)),
        ("mean(x) over 4w", over(4, DurationUnit::Week)),
        ("mean(x) since 2014-01-01", Question { period: since.clone(), ..plain.clone() }),
        ("mean(x) since \"2014-01-01\"", Question { period: since.clone(), ..plain.clone() }),
        (
            "mean(x) until 2016-02-29T23:59:59+02:00 since 2014-01-01T12:30",
            Question { period: both, ..plain.clone() },
        ),
        ("mean(x) until 2014-01-01T00:00Z", Question { period: until, ..plain.clone() }),
        ("mean(x) by window", Question { by: Some(By::Window), ..plain.clone() }),
        ("mean(x) by hour", Question { by: Some(By::Hour), ..plain.clone() }),
        ("mean(x) by week", Question { by: Some(By::Week), ..plain.clone() }),
        ("mean(x) by month", Question { by: Some(By::Month), ..plain.clone() }),
        (
            "mean(x) during last month",
            Question { period: Period::During("last month".parse().unwrap()), ..plain.clone() },
        ),
        (
            "mean(x) during 2024-q3",
            Question { period: Period::During("2024-Q3".parse().unwrap()), ..plain.clone() },
        ),
        ("mean(x) by quarter", Question { by: Some(By::Quarter), ..plain.clone() }),
        ("mean(x) by year", Question { by: Some(By::Year), ..plain.clone() }),
        ("mean(x) by 15m", Question { by: Some(By::Every("15m".parse().unwrap())), ..plain.clone() }),
        ("mean(x) by 6h", Question { by: Some(By::Every("6h".parse().unwrap())), ..plain.clone() }),
        ("mean(x) by 60m", Question { by: Some(By::Hour), ..plain.clone() }),
        ("mean(x) by 24h", Question { by: Some(By::Day), ..plain.clone() }),
        ("mean(x) by 7d", Question { by: Some(By::Week), ..plain.clone() }),
        (
            "mean(x) by month from 21 over 7d",
            Question { by: Some(By::MonthFrom(21)), ..over(7, DurationUnit::Day) },
        ),
        ("mean(x) by month from 1", Question { by: Some(By::Month), ..plain.clone() }),
        (
            "mean(x) by weekday",
            Question { by: Some(By::Recurring { first: Cycle::Weekday, second: None }), ..plain.clone() },
        ),
        (
            "mean(x) by day of week",
            Question { by: Some(By::Recurring { first: Cycle::Weekday, second: None }), ..plain.clone() },
        ),
        (
            "mean(x) by hour of day and month of year per device",
            Question {
                by: Some(By::Recurring { first: Cycle::HourOfDay, second: Some(Cycle::MonthOfYear) }),
                grouping: Devices::Each,
                ..plain.clone()
            },
        ),
        (
            "mean(x) where weekday in (Sunday, sat) and device in (a) and time 22:00-06:00 and month in (dec, 1)",
            Question {
                only: Some(vec!["a".into()]),
                times: Times {
                    dates: None,
                    time: Some("22:00-06:00".parse().unwrap()),
                    weekdays: [Weekday::Sat, Weekday::Sun].into(),
                    months: [1, 12].into(),
                },
                ..plain.clone()
            },
        ),
        ("mean(x) across devices", plain.clone()),
        ("mean(x) per device", Question { grouping: Devices::Each, ..plain.clone() }),
        ("mean(x) shared", Question { shared: true, ..plain.clone() }),
        ("mean(x) shared by day", Question { shared: true, by: Some(By::Day), ..plain.clone() }),
        (
            "mean(x)\twhere device in (a, \"7-b\")\nper device since 2014-01-01 by day",
            Question {
                period: since,
                by: Some(By::Day),
                grouping: Devices::Each,
                only: Some(vec!["a".into(), "7-b".into()]),
                ..plain.clone()
            },
        ),
    ] {
        assert_eq!(parsed(text), expected, "{text}");
        assert_eq!(parsed(&expected.to_string()), expected);
    }
}

#[test]
fn durations_have_seconds() {
    for (text, seconds) in [
        ("90s", 90),
        ("30m", 1800),
        ("12h", 43_200),
        ("7d", 604_800),
        ("4294967295w", 4_294_967_295 * 604_800),
    ] {
        assert_eq!(text.parse::<Duration>().unwrap().seconds(), seconds, "{text}");
    }
    assert!("7d ".parse::<Duration>().is_ok());
    assert!("7d 8d".parse::<Duration>().is_err());
}

/// Gives every call the number of its channel as its value.
struct Numbers;

impl CallArithmetic for Numbers {
    type Value = f64;
    type Error = &'static str;

    fn number(&mut self, number: f64) -> Result<f64, &'static str> {
        Ok(number)
    }

    fn call(&mut self, call: &Call) -> Result<f64, &'static str> {
        call.channels()[0][1..].parse().map_err(|_| "no number")
    }

    fn along(&mut self, along: &Along) -> Result<f64, &'static str> {
        self.call(&along.of).map(|of| 10.0 * of)
    }

    fn offset(&mut self, offset: &Offset) -> Result<f64, &'static str> {
        self.call(&offset.of).map(|of| 100.0 * of)
    }

    fn priced(&mut self, priced: &Priced) -> Result<f64, &'static str> {
        self.call(&priced.of).map(|of| 1000.0 * of)
    }

    fn negate(&mut self, of: f64) -> Result<f64, &'static str> {
        Ok(-of)
    }

    fn add(&mut self, left: f64, right: f64) -> Result<f64, &'static str> {
        Ok(left + right)
    }

    fn subtract(&mut self, left: f64, right: f64) -> Result<f64, &'static str> {
        Ok(left - right)
    }

    fn multiply(&mut self, left: f64, right: f64) -> Result<f64, &'static str> {
        Ok(left * right)
    }

    fn divide(&mut self, left: f64, right: f64) -> Result<f64, &'static str> {
        if right == 0.0 { Err("division by zero") } else { Ok(left / right) }
    }
}

#[test]
fn arithmetic_binds_as_usual() {
    for (text, value) in [
        ("sum(c2) + 3 * 4", 14.0),
        ("(sum(c2) + 3) * 4", 20.0),
        ("sum(c10) - 4 - 3", 3.0),
        ("sum(c10) - (4 - 3)", 9.0),
        ("sum(c12) / 3 / 2", 2.0),
        ("sum(c12) / (3 / 2)", 8.0),
        ("-sum(c2) * 3", -6.0),
        ("--sum(c2)", 2.0),
        ("2 * -3 * sum(c1)", -6.0),
        ("-(3) - -3 - -sum(c1)", 1.0),
    ] {
        let read = expression(text);
        assert_eq!(read.fold(&mut Numbers), Ok(value), "{text}");
        assert_eq!(expression(&read.to_string()), read, "{text}");
    }
    assert_eq!(expression("1 / (sum(c1) - 1)").fold(&mut Numbers), Err("division by zero"));
    assert_eq!(expression("1 + sum(x)").fold(&mut Numbers), Err("no number"));
}

#[test]
fn canonical_text_has_only_the_parentheses_it_needs() {
    for (text, canonical) in [
        ("((mean(a)+1))*2", "(mean(a) + 1) * 2"),
        ("(mean(a)*2)+1", "mean(a) * 2 + 1"),
        ("mean(a)-(1-2)", "mean(a) - (1 - 2)"),
        ("(mean(a)-1)-2", "mean(a) - 1 - 2"),
        ("-(mean(a)+1)", "-(mean(a) + 1)"),
        ("-(3)*mean(a)", "-(3) * mean(a)"),
        ("mean(a)/1e300/1000000/0.5", "mean(a) / 1e300 / 1000000 / 0.5"),
        ("mean(a) as \"two words\" by day over 7d", "mean(a) as \"two words\" over 7d by day"),
        ("mean(a) across devices", "mean(a)"),
    ] {
        assert_eq!(parsed(text).to_string(), canonical);
        assert_eq!(parsed(canonical), parsed(text));
    }
}

#[test]
fn calls_and_channels_come_in_reading_order() {
    let question = parsed("(mean(c) - sum(b)) * rms(a), covariance(c, d), regression(y ~ x)");
    let calls: Vec<String> = question.calls().map(ToString::to_string).collect();
    assert_eq!(calls, ["mean(c)", "sum(b)", "rms(a)", "covariance(c, d)", "regression(y ~ x)"]);
    assert_eq!(question.channels(), BTreeSet::from(["a", "b", "c", "d", "x", "y"].map(String::from)));
    let vectors = question.calls().filter(|call| call.is_vector()).count();
    assert_eq!(vectors, 1);
}

#[test]
fn the_builder_makes_what_the_parser_reads() {
    let built = Question::select((Call::mean("a") - Call::mean("b")) / 2.0)
        .and(-Call::stddev("a"))
        .and((Call::sum("a") * 3.0 + Call::count("b")).named("total"))
        .and(Call::weighted_sum("a", Duration::new(6, DurationUnit::Hour)))
        .and(Call::values(Measurand::polynomial("a", vec![0.0, 1.0])).named("calibrated"))
        .since("2014-01-01")
        .until("2014-02-01T00:00Z")
        .by(By::Day)
        .per_device()
        .only(["boiler", "pump 2"])
        .build()
        .unwrap();
    let text = "(mean(a) - mean(b)) / 2, -stddev(a), sum(a) * 3 + count(b) as total, \
        weighted_sum(a, half_life 6h), polynomial(a, [0, 1]) as calibrated \
        since 2014-01-01 until 2014-02-01T00:00Z by day per device where device in (boiler, \"pump 2\")";
    assert_eq!(built.to_string(), text);
    assert_eq!(parsed(text), built);
}

#[test]
fn the_builder_refuses_as_the_parser_does() {
    let mean = || Question::select(Call::mean("x"));
    let week = Duration::new(1, DurationUnit::Week);
    let column = |built: sotto_owner::question::QuestionBuilder| {
        let refused = built.build().unwrap_err();
        (refused.column, refused.kind)
    };
    assert_eq!(column(mean().since("yesterday")), (15, QuestionErrorKind::When));
    assert_eq!(column(mean().since("2014-01-01 by day")), (15, QuestionErrorKind::When));
    assert_eq!(column(mean().over(Duration { count: 0, ..week })), (14, QuestionErrorKind::Duration));
    let excluded = QuestionErrorKind::ClauseExcluded { clause: "over", other: "until" };
    assert_eq!(column(mean().over(week).until("2014-01-01")).1, excluded);
    assert_eq!(column(mean().and(Call::moving_average("x", 3))), (10, QuestionErrorKind::NoGroups));
    assert_eq!(column(Question::select(Expression::Number(3.0))), (1, QuestionErrorKind::NoCall));
    assert_eq!(
        column(Question::select(Call::mean("x") * f64::NAN)),
        (11, QuestionErrorKind::NotFinite { word: "NaN" })
    );
    assert_eq!(
        column(Question::select(Call::weighted_sum("x", vec![1.0, f64::NEG_INFINITY]))),
        (22, QuestionErrorKind::NotFinite { word: "inf" })
    );
    assert_eq!(
        column(Question::select(Call::values(Measurand::Channel("x".into())))),
        (1, QuestionErrorKind::BareName { name: "x".into() })
    );
    assert_eq!(column(mean().only(Vec::<String>::new())).0, 26);
    assert_eq!(column(Question::select(Call::mean("line\nend"))), (11, QuestionErrorKind::NameCharacter));
    assert_eq!(column(Question::select(Call::mean(""))), (6, QuestionErrorKind::NameEmpty));

    let mut question = mean().build().unwrap();
    question.period = Period::Between { since: None, until: None };
    assert_eq!(question.check().unwrap_err().kind, QuestionErrorKind::EmptyPeriod);
    let chain = (0..10_000).fold(Expression::from(Call::mean("x")), |sum, _| sum + 1.0);
    assert_eq!(column(Question::select(chain)).1, QuestionErrorKind::Depth);
}

#[test]
fn json_is_the_wire_form() {
    let json = r#"{"select":[{"expression":{"subtract":[{"call":{"mean":{"channel":"a"}}},{"number":0.1}]},"name":"t"}],
        "period":{"over":{"count":7,"unit":"day"}},"by":"day","grouping":"each","only":["boiler"]}"#;
    let text = "mean(a) - 0.1 as t over 7d by day per device where device in (boiler)";
    let question: Question = serde_json::from_str(json).unwrap();
    assert_eq!(question, parsed(text));
    assert_eq!(
        serde_json::from_str::<Question>(&serde_json::to_string(&question).unwrap()).unwrap(),
        question
    );
    let least: Question =
        serde_json::from_str(r#"{"select":[{"expression":{"call":{"rms":"a"}}}]}"#).unwrap();
    assert_eq!(least, parsed("rms(a)"));

    let counted = |reading: &str| {
        let condition = format!(r#"{{{reading},"comparison":"greater","limit":80}}"#);
        format!(r#"{{"select":[{{"expression":{{"call":{{"count_where":{condition}}}}}}}]}}"#)
    };
    let of_channel: Question = serde_json::from_str(&counted(r#""channel":"a""#)).unwrap();
    assert_eq!(of_channel, parsed("count(a > 80)"));
    let of_model: Question = serde_json::from_str(&counted(r#""linear":{"file":"m.json"}"#)).unwrap();
    assert_eq!(of_model, parsed("count(linear(m.json) > 80)"));
    let from = r#""channel":"a","from":{"comparison":"at_least","limit":60}"#;
    let between = counted(from).replace("greater", "at_most");
    assert_eq!(serde_json::from_str::<Question>(&between).unwrap(), parsed("count(60 <= a <= 80)"));
    let select = r#"{"select":[{"expression":{"call":{"rms":"a"}}}]"#;
    for (json, word) in [
        (r#"{"select":[]}"#.to_string(), "empty"),
        ("{}".into(), "missing field `select`"),
        (format!(r#"{select},"colour":1}}"#), "unknown field"),
        (format!(r#"{select},"period":{{"over":{{"count":0,"unit":"day"}}}}}}"#), "duration"),
        (format!(r#"{select},"period":{{"between":{{}}}}}}"#), "neither"),
        (format!(r#"{select},"period":{{"between":{{"since":"now"}}}}}}"#), "moment"),
        (format!(r#"{select},"only":["a","a"]}}"#), "twice"),
        (counted(r#""channel":"a","unit":"K""#), "unknown field"),
        (counted(r#""channel":"a","linear":{"file":"m"}"#), "one of channel"),
        (counted(r#""polynomial":{"channel":"a","coefficients":[1,2],"unit":"K"}"#), "unknown field"),
        (counted(r#""polynomial":{"channel":"a","coefficients":[1]}"#), "coefficients"),
        (counted(r#""comparison":"less""#), "duplicate field"),
        // Both ends below, and an end above the other.
        (counted(from), "the smaller one first"),
        (counted(from).replace("greater", "at_most").replace("80", "8"), "the smaller one first"),
        (r#"{"select":[{"expression":{"number":1}}]}"#.into(), "no statistic"),
        (r#"{"select":[{"expression":{"call":{"moving_average":{"channel":"a","groups":3}}}}]}"#.into(), "add by"),
        (r#"{"select":[{"expression":{"call":{"moving_average":{"channel":"a","groups":1}}}}],"by":"day"}"#.into(), "2"),
        (r#"{"select":[{"expression":{"negate":{"call":{"regression":{"y":"a","x":"b"}}}}}]}"#.into(), "alone"),
        (r#"{"select":[{"expression":{"call":{"weighted_sum":{"channel":"a","weights":{"each":[]}}}}}]}"#.into(), "number"),
    ] {
        let refused = serde_json::from_str::<Question>(&json).unwrap_err().to_string();
        assert!(refused.contains(word), "{json}: {refused}");
    }
}

#[test]
fn a_linear_model_is_read_and_attached() {
    let json = br#"{"intercept": 1.0, "coefficients": {"temperature": 0.5, "load": -2}}"#;
    let model = LinearModel::parse(json).unwrap();
    assert_eq!((model.intercept, model.coefficients["load"]), (1.0, -2.0));
    let mut question = parsed("mean(linear(m.json)), linear(m.json), linear(n.json), rms(x)");
    assert_eq!(question.missing_models(), BTreeSet::from(["m.json".into(), "n.json".into()]));
    assert_eq!(question.attach_model("m.json", &model), Ok(2));
    assert_eq!(question.missing_models(), BTreeSet::from(["n.json".into()]));
    assert_eq!(question.channels(), BTreeSet::from(["load".into(), "temperature".into(), "x".into()]));
    question.check().unwrap();
    let wire = serde_json::to_string(&question).unwrap();
    assert_eq!(serde_json::from_str::<Question>(&wire).unwrap(), question);

    let other = wire.replacen("-2.0", "-3.0", 1);
    assert!(
        serde_json::from_str::<Question>(&other).unwrap_err().to_string().contains("two different models")
    );
    assert!(serde_json::from_str::<Question>(&wire.replace("load", "")).is_err());
    let empty = LinearModel { coefficients: [].into(), ..model };
    assert_eq!(question.attach_model("n.json", &empty), Err(ModelError::Empty));
}

#[test]
fn a_wrong_model_is_refused() {
    let long = format!("{}{{}}", " ".repeat(limits::MODEL_BYTES));
    let many: Vec<String> = (0..=limits::MODEL_COEFFICIENTS).map(|index| format!("\"c{index}\":1")).collect();
    let many = format!("{{\"intercept\":0,\"coefficients\":{{{}}}}}", many.join(","));
    for (json, word) in [
        ("", "line 1"),
        ("[]", "intercept"),
        ("{}", "intercept"),
        (r#"{"intercept": 1}"#, "coefficients"),
        (r#"{"intercept": 1, "coefficients": {}}"#, "no coefficients"),
        (r#"{"intercept": 1, "coefficients": [1]}"#, "object of channels"),
        (r#"{"intercept": 1, "coefficients": {"a": "b"}}"#, "string"),
        (r#"{"intercept": 1, "coefficients": {"a": 1, "a": 2}}"#, "a comes twice"),
        (r#"{"intercept": 1, "coefficients": {"": 1}}"#, "1 to 64 bytes"),
        (r#"{"intercept": 1e999, "coefficients": {"a": 1}}"#, "out of range"),
        (r#"{"intercept": null, "coefficients": {"a": 1}}"#, "null"),
        (r#"{"intercept": 1, "coefficients": {"a": 1}, "scale": 2}"#, "scale"),
        (long.as_str(), "65538 bytes"),
        (many.as_str(), "1025 coefficients"),
    ] {
        let refused = LinearModel::parse(json.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(word), "{}: {refused}", &json[..json.len().min(60)]);
    }
    let infinite = LinearModel { intercept: 0.0, coefficients: [("a".into(), f64::INFINITY)].into() };
    assert_eq!(infinite.check(), Err(ModelError::NotFinite { number: "coefficient of a".into() }));
}

#[test]
fn a_later_check_points_at_the_text() {
    let text = "mean(a) - rms(b) , count(linear(m.json)) by day where device in (d) over 7d per device";
    let (question, places) = Question::parse_with_places(text).unwrap();
    assert_eq!(question, parsed(text));
    for (refused, at) in [
        (places.error_at_channel("b", "m"), "b) ,"),
        (places.error_at_channel("temperature", "m"), "m.json"),
        (places.error_at_call(1, "m"), "rms"),
        (places.error_at_call(2, "m"), "count"),
        (places.error_at_call(3, "m"), ""),
        (places.error_at_selected(1, "m"), "count"),
        (places.error_at_file("m.json", "m"), "m.json"),
        (places.error_at_device("d", "m"), "d) over"),
        (places.error_at_clause(Clause::By, "m"), "by"),
        (places.error_at_clause(Clause::Where, "m"), "where"),
        (places.error_at_clause(Clause::Period, "m"), "over"),
        (places.error_at_clause(Clause::Devices, "m"), "per"),
    ] {
        assert!(
            text[refused.offset..].starts_with(at) && (at.is_empty() == (refused.offset == text.len())),
            "{refused}"
        );
    }
    let drawn = places.error_at_channel("b", "the layout has no channel b").to_string();
    assert!(drawn.starts_with("column 15: the layout has no channel b\n    mean(a) - rms(b)"), "{drawn}");
    assert!(drawn.ends_with(&format!("\n    {:14}^", "")), "{drawn}");

    let canonical = question.places().unwrap();
    assert_eq!(canonical.text(), question.to_string());
    assert!(canonical.text()[canonical.error_at_clause(Clause::Period, "m").offset..].starts_with("over 7d"));
}
