//! The demo's one screen: at most 80 columns, about 40 lines.

use comfy_table::{CellAlignment, Table, presets};
use sotto_owner::Range;
use sotto_owner::settings::Settings;

use super::input::Input;
use super::report::{Compared, Document};
use super::series::Far;
use crate::output::say;
use crate::phases::{Phase, duration};
use crate::plant::number;

/// Columns of the screen.
const WIDTH: usize = 80;
/// Number of channels that are shown.
const MOST_CHANNELS: usize = 3;
/// Spaces before a continuation line.
const INDENT: usize = 7;

/// Prints all but the output of `--explain`.
pub(super) fn print(document: &Document, input: &Input, settings: &Settings, seen: &str) {
    line("A plant in a temporary folder; its sotto.toml says:");
    line("");
    plant(input, settings);
    line("");
    line(&format!("Two devices read {}.", input.description));
    line("They sent it encrypted; the cloud computed on ciphertexts; the owner decrypted:");
    for row in table(document).lines() {
        line(row);
    }
    verdict(document);
    if let Some(far) = &input.far {
        for row in distant(far) {
            line(&row);
        }
    }
    line("");
    line(&uploaded(document));
    wrapped("    of full windows:", &full_windows(document));
    times(&document.phases);
    line(&format!("The cloud saw {seen}"));
    line("");
    line("Your own plant: sotto init plant; then docs/guides/first-answer.md");
}

fn verdict(document: &Document) {
    match document.coarse() {
        _ if !document.all_within_bounds() => line("AN ANSWER IS OFF BY MORE THAN ITS BOUND."),
        0 => line("Every answer is within its bound of the value computed in the clear."),
        count => {
            line(&format!("NOT USEFUL: {count} of the answers have bounds wider than the readings are."));
            line("The range is too wide for the resolution: look for wrong cells.");
        }
    }
}

/// Describes the values that lie far from the others.
fn distant(Far { count, at, farthest, middle: (low, high) }: &Far) -> [String; 3] {
    let lie = if *count == 1 { "1 value lies".to_owned() } else { format!("{count} values lie") };
    let (minute, farthest) = (at.get(..16).unwrap_or(at), short(*farthest));
    let from = if *count == 1 { farthest } else { format!("the farthest is {farthest}") };
    [
        format!("{lie} far from the others: {from} at {minute}."),
        format!("Half of all lie between {} and {}. The range above follows", short(*low), short(*high)),
        "the file; the declared range of your own plant leaves such values out.".to_owned(),
    ]
}

/// Formats a number in few characters.
fn short(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() <= 12 { plain } else { format!("{value:e}") }
}

/// Prints a line, cut at the width with an ellipsis.
pub(super) fn line(text: &str) {
    if text.chars().count() <= WIDTH {
        say(text);
    } else {
        say(format!("{}…", text.chars().take(WIDTH - 1).collect::<String>()));
    }
}

/// Channels and questions, in the notation of `sotto.toml`.
fn plant(input: &Input, settings: &Settings) {
    line("[channels]");
    for measured in input.channels.iter().take(MOST_CHANNELS) {
        let Some(channel) = settings.channels.get(&measured.name) else { continue };
        let Range { minimum, maximum } = channel.range;
        let unit =
            if channel.unit.is_empty() { String::new() } else { format!("unit = \"{}\", ", channel.unit) };
        line(&format!(
            "{} = {{{unit}range = [{minimum}, {maximum}], resolution = {}, every = \"{}\"}}",
            measured.name, channel.resolution, channel.every
        ));
    }
    if input.source == "csv" {
        line("# the file's range and a tenth on both sides, its decimals, its commonest step");
    }
    if input.channels.len() > MOST_CHANNELS {
        line(&format!("# and {} more", input.channels.len() - MOST_CHANNELS));
    }
    line("[questions]");
    for (name, question) in &settings.questions {
        match question.scheme {
            None => line(&format!("{name} = \"{}\"", question.text)),
            Some(scheme) => {
                line(&format!("{name} = {{text = \"{}\", scheme = \"{}\"}}", question.text, scheme.word()));
            }
        }
    }
}

fn table(document: &Document) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["question", "scheme", "devices", "answer ± bound", "in the clear"]);
    for question in &document.questions {
        for compared in &question.rows {
            let unit =
                if compared.row.unit.is_empty() { String::new() } else { format!(" {}", compared.row.unit) };
            let shown = number(compared.decrypted, compared.limit);
            table.add_row([
                question.name.to_owned(),
                question.scheme.to_uppercase(),
                compared.row.device.clone().unwrap_or_else(|| "both".to_owned()),
                format!("{shown}{unit}"),
                clear(compared, &shown),
            ]);
        }
    }
    for column in [3, 4] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Formats the clear value with the decimals of the answer.
fn clear(compared: &Compared, shown: &str) -> String {
    let value = shown.split(' ').next().unwrap_or(shown);
    if value.contains('e') {
        return format!("{:.6e}", compared.clear);
    }
    let places = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{:.places$}", compared.clear)
}

fn uploaded(document: &Document) -> String {
    format!(
        "Up: {} readings, {} bytes in {} windows: {:.0} bytes a reading",
        document.readings, document.bytes_uploaded, document.windows, document.bytes_per_reading
    )
}

fn full_windows(document: &Document) -> Vec<String> {
    let full = |stream: &sotto_owner::StreamReport| {
        format!("{:.1} in {} ({})", stream.bytes_a_reading, stream.stream, stream.scheme.to_uppercase())
    };
    document.streams.iter().map(full).collect()
}

/// Prints the mean time of each phase.
fn times(phases: &[Phase]) {
    let of = |phase: &Phase| format!("{} {}", phase.name, duration(phase.mean_us));
    wrapped("Mean times:", &phases.iter().map(of).collect::<Vec<_>>());
}

/// Prints items behind a title, separated by commas; continuation lines are indented.
pub(super) fn wrapped(title: &str, items: &[String]) {
    let mut text = title.to_owned();
    for (index, item) in items.iter().enumerate() {
        let end = if index + 1 == items.len() { "" } else { "," };
        if text.chars().count() + 1 + item.chars().count() + end.len() > WIDTH {
            line(&text);
            text = " ".repeat(INDENT);
        }
        text = format!("{text} {item}{end}");
    }
    line(&text);
}
