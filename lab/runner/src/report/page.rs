//! The HTML page.

use sotto_chart::{LIGHT, MARKS, escape};

use super::format::{colour, data_address};
use super::{
    Group, across, cards, claims, comma_separated, comparisons, distinct, glance, groups, pareto, published,
    sizes, sweeps, tables, tasks, together,
};
use crate::definition::{self, Definition};
use crate::machine::Host;
use crate::row::Row;
use crate::store::Collection;

const STYLE: &str = include_str!("style.css");

/// Returns one self-contained page.
pub(super) fn page(collection: &Collection) -> String {
    let rows: Vec<&Row> = collection.rows.iter().collect();
    let legend: String = distinct(&rows, |row| row.engine.as_str())
        .into_iter()
        .map(|engine| {
            format!("<span><i style=\"background:{}\"></i>{}</span>", colour(engine), escape(engine))
        })
        .collect();
    let csv = data_address("text/csv", &comma_separated(&collection.rows));
    let glance = glance::tables(&collection.rows);
    let quick = if collection.rows.iter().any(|row| row.quick) {
        "<p><strong>Quick rows are among these: few repetitions, to see that everything works rather than how fast it \
         is.</strong></p>"
    } else {
        ""
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>sotto lab</title><style>{LIGHT}{MARKS}{STYLE}</style></head><body>\
         <header><h1>sotto lab</h1>{}</header>{quick}\
         <p>Times are medians of single operations on one thread; each was checked by decryption before it was timed, and rows \
         that were not verified are shown and not compared. Two rows are compared if scheme, n and security profile are the same \
         and the data moduli are equal within 3 %. Axes of times, sizes and bytes are logarithmic. Numbers behind \
         × say how many times as fast sotto is as the fastest other engine.</p>\
         <p><a download=\"rows.csv\" href=\"{csv}\">All rows as CSV</a></p>\
         {glance}<nav class=\"legend\">{legend}</nav><main>{}{}</main>\
         <section><h2>Engines</h2>{}</section><section><h2>Gaps</h2>{}\
         <p>PyAono and HElib are in no package registry; a paper's figures of them are among the \
         published ones.</p></section></body></html>\n",
        collection.machine.as_ref().map_or(String::new(), machine),
        sections(&collection.rows),
        comparisons::section(&collection.comparisons),
        tables::engines(&collection.rows),
        tables::gaps(&collection.gaps)
    )
}

fn machine(machine: &Host) -> String {
    let pinned = machine.pinned.map_or("not pinned".to_owned(), |core| format!("pinned to processor {core}"));
    let load = machine.load.map_or(String::new(), |load| format!("; load {load} when the run began"));
    format!(
        "<p>{}, {}; vector extensions: {}; {} processors, engines {pinned}{load}.</p>\
         <details><summary>processor flags</summary><p class=\"small\">{}</p></details>",
        escape(&machine.processor),
        escape(&machine.system),
        escape(&machine.vectors.join(", ")),
        machine.cores,
        escape(&machine.flags)
    )
}

fn sections(rows: &[Row]) -> String {
    let groups = groups(rows);
    let mut names = distinct(&rows.iter().collect::<Vec<_>>(), |row| row.definition.as_str());
    // In the program's order of definitions, which begins with `operations`.
    names.sort_by_key(|name| definition::names().iter().position(|known| known == name));
    names
        .into_iter()
        .map(|name| {
            let groups: Vec<&Group<'_>> = groups.iter().filter(|group| group.definition == name).collect();
            let of: Vec<&Row> = rows.iter().filter(|row| row.definition == name).collect();
            one_definition(name, rows, &of, &groups)
        })
        .collect()
}

/// Returns a definition's section: description, tables over all groups, and the groups.
fn one_definition(name: &str, all: &[Row], rows: &[&Row], groups: &[&Group<'_>]) -> String {
    let sections: String = groups.iter().map(|group| section(group)).collect();
    let Ok(definition) = Definition::named(name) else {
        return format!("<h2>{}</h2>{sections}", escape(name));
    };
    let over = across::tables(&definition, rows) + &together::section(&definition, all);
    let sections = if over.is_empty() {
        sections
    } else {
        format!("<details><summary>Row by row</summary>{sections}</details>")
    };
    format!(
        "<h2 id=\"{0}\">{1}</h2><p><code>sotto-lab run {0}</code></p><p>{2}</p>{3}{over}{4}{5}{6}{7}{sections}",
        escape(name),
        escape(&definition.title),
        escape(&definition.about),
        claims::table(name, all),
        tasks::section(&definition, rows),
        sizes::table(&definition, rows),
        sweeps::charts(&definition, rows),
        published::papers(&definition),
    )
}

fn section(group: &Group<'_>) -> String {
    format!(
        "<section><h3>{} {}</h3>{}{}{}<details><summary>Tables</summary>{}</details></section>",
        escape(&group.scheme.to_uppercase()),
        escape(group.parameters),
        cards::cards(group),
        pareto::plots(group),
        published::table(group),
        tables::medians(group)
    )
}
