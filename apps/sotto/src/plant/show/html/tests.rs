//! Tests of the whole page.

use sotto_owner::{Next, Rank, Row};

use super::super::fixture::{answer, hourly, row};
use super::{html, report};
use crate::plant::report::{Answered, Shown};

/// Returns the first text between two marks.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    text.split_once(from)
        .and_then(|(_, rest)| rest.split_once(to))
        .unwrap_or_else(|| panic!("{from} … {to}"))
        .0
}

/// Checks that the text is well-formed: elements closed in order, attributes quoted, entities known.
fn well_formed(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut parts = text.split('<');
    let known = |text: &str| {
        let entity =
            |rest: &str| ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| rest.starts_with(name));
        text.split('&').skip(1).all(entity) && !text.chars().any(|c| c.is_control() && c != '\n')
    };
    if !known(parts.next().unwrap_or_default()) {
        return Err("before the first element".to_owned());
    }
    for part in parts {
        let (tag, after) = part.split_once('>').ok_or_else(|| format!("<{part}: no end"))?;
        if !known(after) {
            return Err(format!("text {after:?}"));
        }
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            if last != Some(name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
            continue;
        }
        let (content, closed) = tag.strip_suffix('/').map_or((tag, false), |content| (content, true));
        let (name, mut attributes) = content.split_once(' ').unwrap_or((content, ""));
        while !attributes.trim().is_empty() {
            let (key, rest) = attributes.trim_start().split_once("=\"").ok_or_else(|| format!("<{tag}>"))?;
            let (value, rest) = rest.split_once('"').ok_or_else(|| format!("<{tag}>: no quote"))?;
            if !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') || !known(value) {
                return Err(format!("<{tag}>: {key}={value}"));
            }
            attributes = rest;
        }
        if !closed {
            open.push(name);
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("open: {open:?}")) }
}

/// Two devices over ten hours with a gap each, and a vector.
fn devices() -> Vec<Row> {
    let value = |at: i64| (at != 4 && at != 6).then_some(20.0 + at as f64);
    let mut rows = Vec::new();
    for at in 0..10 {
        rows.push(row("mean(t)", Some("boiler"), at, value(at), 0.5));
        rows.push(row("mean(t)", Some("pump"), at, value(at + 1), 0.0));
    }
    rows.extend((0..3).map(|at| row(&format!("values(t)[{at}]"), Some("pump"), at, Some(1.0), 0.1)));
    rows
}

#[test]
fn the_check_finds_faults() {
    for fault in ["<a>", "<a></b>", "<a b=c/>", "<a b=\"&x;\"/>", "a & b", "</a>", "<a b=\"1/>"] {
        assert!(well_formed(fault).is_err(), "{fault}");
    }
    assert_eq!(well_formed("<a b=\"1\" c-d=\"&quot;\">x<e/>&amp;</a>"), Ok(()));
}

#[test]
fn pages_are_well_formed_and_need_nothing_else() {
    let one =
        vec![row("mean(t)", Some("boiler"), 0, Some(1.5), 0.25), row("mean(t)", Some("pump"), 0, None, 0.0)];
    let many = hourly("mean(t)", &[Some(1.0); 300]);
    for rows in [devices(), one, many, hourly("mean(t)", &[None, None]), Vec::new()] {
        let page = html(&answer(rows));
        assert_eq!(well_formed(between(&page, "<main>", "</main>")), Ok(()));
        for outside in ["http:", "https:", "//cdn", "src=", "href=", "url(", "@import", "fetch(", "innerHTML"]
        {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(!page.contains("{{") && !page.contains("NaN") && !page.contains("inf"), "{page}");
    }
}

#[test]
fn text_from_files_is_escaped() {
    let evil = "</script><script>alert('1')</script>\"&{{rows}}\u{1}";
    let rows = devices().into_iter().map(|row| Row {
        name: evil.to_owned(),
        device: row.device.map(|device| format!("{device}{evil}")),
        unit: evil.to_owned(),
        why: Some(evil.to_owned()),
        from: evil.to_owned(),
        to: evil.to_owned(),
        ..row
    });
    let mut answer = answer(rows.collect());
    answer.question = evil.to_owned();
    answer.time_zone = evil.to_owned();
    answer.notes = vec![evil.to_owned()];
    answer.steps = [(evil.to_owned(), 1)].into();
    let mut left_out = sotto_pack::LeftOut::default();
    left_out.add(sotto_pack::Reason::Empty, 2);
    answer.left_out = [(evil.to_owned(), left_out)].into();
    for rows in [answer.rows.clone(), answer.rows[..2].to_vec()] {
        let page = html(&sotto_owner::Answer { rows, ..answer.clone() });
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(!page.contains("alert('"));
        assert_eq!(well_formed(between(&page, "<main>", "</main>")), Ok(()));
    }
}

#[test]
fn a_gap_breaks_the_line_and_the_band() {
    let page = html(&answer(devices()));
    let chart = between(&page, "preserveAspectRatio", "</svg>");
    // Hours 4 and 6 are missing: 0 … 3, 5 alone, 7 … 9.
    let line = between(chart, "class=\"line c0 d0\" d=\"", "\"");
    assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 3 + 2));
    let band = between(chart, "class=\"band c0\" d=\"", "\"");
    assert_eq!(
        (band.matches('M').count(), band.matches('L').count(), band.matches('Z').count()),
        (2, 7 + 5, 2)
    );
    // The second device is exact, so that it has no band.
    assert!(chart.contains("class=\"line c1 d0\"") && !chart.contains("class=\"band c1\""));
    // An isolated point shows its bound as a whisker.
    assert_eq!(page.matches("class=\"whisker c0\"").count(), 1);
}

#[test]
fn every_value_is_a_point_and_a_row() {
    let answer = answer(devices());
    let page = html(&answer);
    let values = answer.rows.iter().filter(|row| row.value.is_some()).count();
    assert_eq!(page.matches("<circle").count(), values);
    assert_eq!(between(&page, "<tbody>", "</tbody>").matches("<tr>").count(), answer.rows.len());
    assert_eq!(page.matches("<figure>").count(), 2);
    let read = between(&page, "data-read=\"", "\"").replace("&quot;", "\"");
    let read: serde_json::Value = serde_json::from_str(&read).expect("JSON");
    let at = |line: usize, key: &str| read[line][key].as_array().map_or(0, Vec::len);
    assert_eq!((at(0, "at"), at(0, "y"), at(0, "text"), at(1, "at")), (10, 10, 10, 10));
    assert!(read[0]["y"][4].is_null());
}

#[test]
fn positions_follow_from_the_scale() {
    // 20 … 30 on a scale of 20 … 30; the middles of four hours lie at 1/8, 3/8, 5/8 and 7/8.
    let page = html(&answer(hourly("mean(t)", &[Some(20.0), Some(30.0), Some(25.0), Some(20.0)])));
    assert_eq!(
        between(&page, "class=\"line c0 d0\" d=\"", "\""),
        "M125.00 260.0L375.00 0.0L625.00 130.0L875.00 260.0"
    );
}

#[test]
fn a_histogram_is_bars_or_a_map_and_no_series() {
    let bin = |at: i64, bin: usize| {
        let name = format!("histogram(t, 2)[{}, {})", 10 * bin, 10 * bin + 10);
        Row { bin: Some([0.0, 1.0]), ..row(&name, Some("a&b"), at, Some((at + bin as i64) as f64), 0.0) }
    };
    let of = |hours: i64| (0..hours).flat_map(|at| [bin(at, 0), bin(at, 1)]).collect::<Vec<_>>();
    for (hours, cells) in [(1, 1), (3, 5)] {
        let page = html(&answer(of(hours)));
        assert_eq!(well_formed(between(&page, "<main>", "</main>")), Ok(()));
        assert_eq!(page.matches("<figure>").count(), 1);
        // A bin without a reading has no mark.
        assert_eq!(page.matches("<rect ").count(), cells);
    }
}

#[test]
fn long_tables_are_folded() {
    assert!(!html(&answer(hourly("mean(t)", &[Some(1.0); 200]))).contains("<details>"));
    assert!(
        html(&answer(hourly("mean(t)", &[Some(1.0); 201]))).contains("<details><summary>201 rows</summary>")
    );
}

#[test]
fn unchecked_values_have_their_mark() {
    let mut rows = hourly("mean(t)", &[Some(1.0), Some(2.0)]);
    assert!(!html(&answer(rows.clone())).contains("? 2"));
    rows[1].assurance = sotto_owner::Assurance::Unchecked;
    let page = html(&answer(rows));
    assert!(page.contains(">? 2") && !page.contains(">? 1"), "{page}");
    assert!(page.contains("Nothing shows that values with a question mark are right"));
}

#[test]
fn tags_places_and_values_between_readings_are_told_apart() {
    let numbers = |rows: Vec<Row>| {
        let answer = answer(rows);
        let answer = Some(("q", Ok(&answer)));
        report("", "", &[Answered { heading: "", text: "", shown: Shown::Number, answer }])
    };
    let tagged = |tag: &str| Row { tag: Some(tag.to_owned()), ..row("mean(t)", None, 0, Some(1.0), 0.0) };
    let page = numbers(vec![tagged("barn"), tagged("north")]);
    assert!(page.contains("<dt>mean(t), barn</dt>") && page.contains("<dt>mean(t), north</dt>"), "{page}");

    let rank = Some(Rank { place: 1, next: Some(Next::Overlaps) });
    let rows = vec![Row { rank, interpolated: true, ..row("max(t)", Some("roof"), 0, Some(3.0), 0.0) }];
    let page = numbers(rows.clone());
    assert!(page.contains("<dt>max(t), place 1 ~, roof</dt><dd>3 °C (between readings)</dd>"), "{page}");
    let table = html(&answer(rows));
    assert!(table.contains("<th>place</th><th>device</th>"), "{table}");
    assert!(table.contains("<td>1 ~</td><td>roof</td>") && table.contains("(between readings)"), "{table}");
}
