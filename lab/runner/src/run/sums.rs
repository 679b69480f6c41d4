//! Rows that are sums of others: sums of medians and of means; deviations are added as those of independent times.

use crate::definition::Sum;
use crate::row::Row;

/// Returns the sums of each engine that has all their parts.
pub(super) fn of(sums: &[Sum], rows: &[Row]) -> Vec<Row> {
    let mut engines: Vec<&str> = Vec::new();
    for row in rows {
        if !engines.contains(&row.engine.as_str()) {
            engines.push(&row.engine);
        }
    }
    let of_engine = |engine: &&str| sums.iter().filter_map(|sum| one(sum, engine, rows)).collect::<Vec<_>>();
    engines.iter().flat_map(of_engine).collect()
}

fn one(sum: &Sum, engine: &str, rows: &[Row]) -> Option<Row> {
    let find = |part: &String| {
        rows.iter().find(|row| row.engine == engine && row.operation == *part && row.object.is_none())
    };
    let parts = sum.parts.iter().map(find).collect::<Option<Vec<&Row>>>()?;
    let first = *parts.first()?;
    let total = |of: fn(&Row) -> f64| parts.iter().map(|row| of(row)).sum::<f64>();
    Some(Row {
        operation: sum.name.clone(),
        mode: None,
        latency_ms: None,
        instead: None,
        least_us: None,
        median_us: total(|row| row.median_us),
        mean_us: total(|row| row.mean_us),
        sd_us: total(|row| row.sd_us * row.sd_us).sqrt(),
        count: parts.iter().map(|row| row.count).min().unwrap_or(0),
        bytes: None,
        verified: parts.iter().all(|row| row.verified),
        ..first.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_all_its_parts_or_is_not_there() {
        let row = |engine: &str, operation: &str, us: f64| Row {
            sd_us: 3.0,
            ..Row::example(engine, operation, 4096, us)
        };
        let sums = [Sum {
            name: "response add".into(),
            parts: ["encrypt", "encrypt", "add"].map(String::from).into(),
        }];
        let unsure = Row { verified: false, ..row("b", "add", 1.0) };
        let rows = [
            row("a", "encrypt", 10.0),
            row("a", "add", 1.0),
            row("b", "encrypt", 5.0),
            unsure,
            row("c", "add", 1.0),
        ];
        let made = of(&sums, &rows);
        assert_eq!(made.len(), 2, "c does not encrypt");
        assert_eq!(
            (made[0].median_us, made[0].operation.as_str(), made[0].verified),
            (21.0, "response add", true)
        );
        assert!((made[0].sd_us - 27f64.sqrt()).abs() < 1e-12);
        assert!(!made[1].verified);
    }
}
