//! The report's overview: for each definition and operation, the ratio of the fastest other engine's time to ours,
//! coloured.

use sotto_chart::escape;

use super::distinct;
use super::margins::geometric_mean;
use crate::compare;
use crate::definition;
use crate::row::Row;

/// Definitions with more parameter sets than this are left out of the overview.
const FEW_SETS: usize = 2;

/// Returns a table for each definition that compares engines: a row for each operation, a column for each scheme and
/// size.
pub(super) fn tables(rows: &[Row]) -> String {
    let all: Vec<&Row> = rows.iter().collect();
    let one = |name: &str| {
        let of: Vec<&Row> = rows.iter().filter(|row| row.definition == name).collect();
        let few = distinct(&of, |row| row.parameters.as_str()).len() <= FEW_SETS;
        few.then(|| table(name, &of)).flatten()
    };
    let mut names = distinct(&all, |row| row.definition.as_str());
    names.sort_by_key(|name| definition::names().iter().position(|known| known == name));
    let tables: String = names.into_iter().filter_map(one).collect();
    if tables.is_empty() {
        return tables;
    }
    format!(
        "<section><h2>At a glance</h2><p>How many times as fast sotto is as the fastest other engine that may be compared with \
         it: <span class=\"cell far\">3 and more</span> <span class=\"cell faster\">1.1 to 3</span> \
         <span class=\"cell even\">about the same</span> <span class=\"cell slower\">slower</span>. Empty: no other engine has the operation; ≠: others have it, but as different work, with another modulus or unverified, so that it is not compared. Larger formats are written faster: read serialise together with the bytes.</p>\
         {tables}</section>"
    )
}

fn table(name: &str, rows: &[&Row]) -> Option<String> {
    let ours: Vec<&Row> = rows.iter().copied().filter(|row| row.engine == "sotto").collect();
    let mut columns = distinct(&ours, |row| (row.scheme.as_str(), row.n));
    columns.sort_unstable();
    let groups = compare::by_key_of(rows);
    let ratio = |row: &Row| compare::ratio(row, groups.get(&row.key()).into_iter().flatten().copied());
    let mut ratios = Vec::new();
    let mut body = String::new();
    for operation in distinct(&ours, Row::label) {
        let mut cells = String::new();
        for (scheme, n) in &columns {
            let row =
                ours.iter().find(|row| row.scheme == *scheme && row.n == *n && row.label() == operation);
            let found = row.and_then(|row| ratio(row));
            ratios.extend(found);
            let why = row.and_then(|row| {
                let others = groups.get(&row.key()).into_iter().flatten();
                others
                    .filter(|other| other.engine != row.engine)
                    .find_map(|other| compare::obstacle(row, other))
            });
            cells += &match (found, why) {
                (Some(ratio), _) => cell(ratio),
                (None, Some(why)) => format!("<td class=\"cell\" title=\"{why}\">≠</td>"),
                (None, None) => "<td></td>".to_owned(),
            };
        }
        if cells.contains("class") {
            body += &format!("<tr><th>{}</th>{cells}</tr>", escape(&operation));
        }
    }
    let mean = geometric_mean(ratios.iter().copied())?;
    let heads: String = columns
        .iter()
        .map(|(scheme, n)| format!("<th>{}<br><small>{n}</small></th>", escape(&scheme.to_uppercase())))
        .collect();
    Some(format!(
        "<details{}><summary><a href=\"#{1}\">{1}</a>: geometric mean {mean:.1}, {2} rows</summary><div class=\"wide\">\
         <table class=\"heat\"><thead><tr><th></th>{heads}</tr></thead><tbody>{body}</tbody></table></div></details>",
        if name == "operations" { " open" } else { "" },
        escape(name),
        ratios.len()
    ))
}

fn cell(ratio: f64) -> String {
    let class = match ratio {
        r if r >= 3.0 => "far",
        r if r >= 1.1 => "faster",
        r if r >= 0.9 => "even",
        _ => "slower",
    };
    let digits = usize::from(ratio < 9.95);
    format!("<td class=\"cell {class}\">{ratio:.digits$}</td>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_has_ratios_and_their_mean_and_nothing_that_cannot_be_compared() {
        let rows = [
            Row::example("sotto", "add", 4096, 1.0),
            Row::example("seal", "add", 4096, 2.0),
            Row::example("sotto", "rotate", 4096, 1.0),
            Row::example("seal", "rotate", 4096, 8.0),
            Row::example("sotto", "square", 4096, 1.0),
        ];
        let text = tables(&rows);
        assert!(text.contains("geometric mean 4.0, 2 rows"), "{text}");
        assert!(
            text.contains("<td class=\"cell faster\">2.0</td>") && text.contains("cell far\">8.0"),
            "{text}"
        );
        assert!(!text.contains("<th>square"));
        let lower =
            |engine: &str| Row { scheme: "ckks".into(), ..Row::example(engine, "modswitch", 4096, 1.0) };
        let text = tables(&[rows[0].clone(), rows[1].clone(), lower("sotto"), lower("seal")]);
        assert!(text.contains("divide this work differently\">≠"), "{text}");
        assert_eq!(tables(&rows[4..]), "");
    }
}
