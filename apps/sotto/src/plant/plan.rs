//! `sotto plan`: parameters, bytes and keys for questions, with reasons; with --scheme, for an expression.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use serde_json::json;
use sotto_owner::{
    Chosen, Every, Kind, Plant, StreamReport, Way, WindowQuantity, beyond, measured_report, seconds_a_window,
    stream_report,
};
use sotto_pack::{ChannelBins, Cut, Quantity, Span};

use super::progress::waiting;
use super::{Place, device, from_readings};
use crate::output::{grouped, say};
use crate::run::Run;

/// Arguments of `sotto plan`.
#[derive(clap::Args, Debug)]
pub(crate) struct Plan {
    /// A question, or the name of a declared one [default: all declared ones]; with --scheme an expression such as
    /// 'sum(x*x)'
    #[arg(allow_hyphen_values = true, add = clap_complete::ArgValueCompleter::new(crate::complete::question))]
    question: Option<String>,
    /// Show also the bytes a day with pieces of open windows at this interval, such as 5m (`sotto-agent run --fresh`)
    #[arg(long, value_name = "TIME", conflicts_with = "scheme")]
    fresh: Option<Every>,
    #[command(flatten)]
    expression: crate::plan::Expression,
    #[command(flatten)]
    place: Place,
}

impl Run for Plan {
    fn run(self) -> anyhow::Result<ExitCode> {
        if let (Some(text), Some(scheme)) = (&self.question, self.expression.scheme) {
            return crate::plan::run(text, scheme, &self.expression);
        }
        let plant = self.place.open()?;
        let streams = waiting("choosing parameters", || plant.planned_streams(self.question.as_deref()))?;
        if self.expression.json {
            let report: BTreeMap<&String, Vec<_>> = streams
                .iter()
                .map(|(name, streams)| (name, streams.iter().map(|of| report(of, self.fresh)).collect()))
                .collect();
            say(serde_json::to_string_pretty(
                &json!({"version": 1, "question": self.question, "devices": report}),
            )?);
            return Ok(ExitCode::SUCCESS);
        }
        let limits = plant.cloud().ok().and_then(|cloud| cloud.limits().ok());
        for (name, streams) in &streams {
            say(format!("{name}:"));
            for stream in streams {
                print(stream);
                a_day(stream, self.fresh);
                from_readings::plan(&plant, stream, self.question.as_deref());
                precision(&plant, stream);
                for limit in limits.iter().flat_map(|limits| beyond(stream, limits)) {
                    say(format!("    TOO MUCH FOR THE CLOUD: {limit}"));
                }
            }
        }
        if limits.is_none() {
            say("The cloud cannot be reached: its limits were not checked.");
        }
        say(
            "Beside an answer, you see for each device the sums at every time of day (every tick of its windows).",
        );
        say("Divisions by counts and roots happen after decryption.");
        Ok(ExitCode::SUCCESS)
    }
}

/// The report on a stream, with the bytes of pieces.
#[derive(serde::Serialize)]
struct Report {
    #[serde(flatten)]
    report: StreamReport,
    /// Bytes a day of windows and of pieces of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    fresh_bytes_a_day: Option<u64>,
}

fn report(chosen: &Chosen, fresh: Option<Every>) -> Report {
    let fresh_bytes_a_day = fresh.map(|every| chosen.fresh_bytes_a_day(every.milliseconds()));
    Report { report: measured_report(chosen), fresh_bytes_a_day }
}

/// Prints the bytes that a device sends in a day.
fn a_day(chosen: &Chosen, fresh: Option<Every>) {
    let windows = if chosen.windows_a_day() == 1 { "window" } else { "windows" };
    let with = fresh.map_or_else(String::new, |every| {
        let bytes = chosen.fresh_bytes_a_day(every.milliseconds());
        format!("; {} bytes with `--fresh {every}`", grouped(bytes))
    });
    say(format!(
        "    a day: {} {windows}, {} bytes{with}",
        chosen.windows_a_day(),
        grouped(chosen.bytes_a_day())
    ));
}

/// Prints the largest error of the results.
fn precision(plant: &Plant, chosen: &Chosen) {
    if chosen.stream.kind == Kind::Real {
        let error = sotto_owner::real_error(&chosen.stream.needs);
        let and_flooding = if chosen.flooding_bits.is_some() { " and flooding add" } else { " adds" };
        say(format!(
            "    precision: noise{and_flooding} at most {error:.1e} of the size of the coefficients to a value"
        ));
        if let (Some(bits), Some(flooding)) = (chosen.flooding_bits, chosen.stream.needs.flooding) {
            say(format!(
                "    shared: flooding takes {bits:.1} bits (s = {}, {} results of a key), and up to 3.8 for its tails",
                flooding.statistical_bits, flooding.results
            ));
        }
        comparisons(chosen);
        return;
    }
    if shared(plant, chosen) {
        say(
            "    shared: whole numbers are exact, so that nothing is flooded; verify an answer before you give it away",
        );
    }
    for name in &chosen.stream.channels {
        let Some(channel) = plant.settings().channels.get(name) else { continue };
        let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
        let step = channel.resolution;
        if chosen.stream.kind == Kind::Steps {
            say(format!(
                "    precision: comparisons of {name} are exact, of readings rounded to {step}{unit}; an extreme or a quantile takes {} comparisons",
                sotto_owner::USUAL_BINS - 1
            ));
            continue;
        }
        let half = step / 2.0;
        let deviation = if chosen.stream.needs.squares {
            format!(", a variance within {step} · stddev + {:.1e}", step * step / 4.0)
        } else {
            String::new()
        };
        say(format!("    precision: a mean of {name} within {half}{unit}{deviation}: the resolution alone"));
    }
}

/// Prints the place where polynomials and models are compared with limits, and the distance within which a value is
/// undecided.
fn comparisons(chosen: &Chosen) {
    let needs = &chosen.stream.needs;
    match needs.gap_bits {
        _ if !needs.conditions => {}
        None => say(
            "    comparisons: you decrypt the values and compare them; one that is nearer to a limit than its error is undecided",
        ),
        Some(bits) => say(format!(
            "    comparisons: in the cloud, several windows at once; you see yes, no or undecided. A value within 1/{} of the largest \
             distance from its limit is undecided",
            1u32 << bits
        )),
    }
}

/// Returns true if a question of the stream is marked `shared`.
fn shared(plant: &Plant, chosen: &Chosen) -> bool {
    let asked = chosen.stream.questions.iter().filter_map(|name| plant.planned_question(name).ok());
    asked.into_iter().any(|question| question.shared)
}

/// Returns the number of windows in a year: at least one for each span, and enough to hold all ticks.
fn windows_a_year(cut: &Cut) -> f64 {
    let spans = match cut.span {
        Span::Hour => 8760.0,
        Span::Day => 365.0,
        Span::Week => 52.0,
        Span::Month => 12.0,
    };
    let length = cut.period.milliseconds_of(cut.ticks.into());
    let each = (365.0 * 86_400_000.0 / spans / length).ceil();
    spans * each
}

fn print(chosen: &Chosen) {
    let report = stream_report(chosen);
    let serves = match chosen.stream.kind {
        Kind::Steps => "comparisons in the cloud, with limits chosen later (comparable)".to_owned(),
        _ if report.questions.is_empty() => {
            "no declared question: means and standard deviations by day".to_owned()
        }
        _ => report.questions.join(", "),
    };
    say(format!("  {}", device::describe(chosen)));
    say(format!("    for {serves}; channels {}", report.channels.join(", ")));
    say(format!("    {}", way(&report)));
    let (Some(bits), Some(left)) = (report.modulus_bits, report.noise_bits_left) else {
        sums(chosen, &report);
        return;
    };
    let modulus = report.plain_modulus.map_or_else(String::new, |t| format!(", t = {t}"));
    say(format!(
        "    log2 Q = {bits:.0}{modulus}, {} levels ({} used), {}-bit security, {left:.1} bits of noise left",
        report.levels, report.levels_used, report.security_bits
    ));
    let relinearisation = if report.relinearisation { "relinearisation, " } else { "" };
    say(format!(
        "    an answer: {} bytes for up to {} results; keys: {relinearisation}{} rotations, {} bytes once",
        report.bytes_an_answer,
        report.results_an_answer,
        report.rotations.len(),
        report.bytes_of_keys
    ));
    predicted(chosen);
    lost(&report);
}

/// Describes the way of a stream's windows, the reason, and the bytes of the way not taken.
pub(crate) fn way(report: &StreamReport) -> String {
    let (taken, other) = match report.way {
        Way::Added => ("added with tags".to_owned(), "Evaluated under"),
        Way::Evaluated => (format!("evaluated under {}", report.scheme), "Added with tags"),
    };
    let price = report.other_way.as_ref().and_then(|not_taken| {
        let (bytes, each) = (not_taken.window_bytes?, not_taken.bytes_a_reading?);
        let scheme = if report.way == Way::Added { format!(" {}", not_taken.scheme) } else { String::new() };
        // Ciphertexts hold the readings that counts by bin are made of.
        let counts = if report.bins.is_empty() { "" } else { " and carry no counts" };
        Some(format!(". {other}{scheme}, a window would take {bytes} bytes ({each:.0} a reading){counts}"))
    });
    format!("{taken}: {}{}", report.why, price.unwrap_or_default())
}

/// Prints the details of a stream of sums.
fn sums(chosen: &Chosen, report: &StreamReport) {
    let all = || report.parts.iter().flat_map(|part| &part.quantities);
    let squares = all().any(|placed| matches!(placed.quantity, Quantity::Square(_)));
    let pairs = all().filter(|placed| matches!(placed.quantity, Quantity::Product(..))).count();
    let sent = match (squares, pairs) {
        (false, 0) => String::new(),
        (true, 0) => " and their squares".to_owned(),
        (squares, pairs) => {
            let squares = if squares { ", their squares" } else { "" };
            let pairs = if pairs == 1 { "a pair".to_owned() } else { format!("{pairs} pairs") };
            format!("{squares} and products of {pairs} of channels")
        }
    };
    say(format!(
        "    it sends readings{sent}, hidden by a stream cipher; the cloud adds windows without a key. Each answer carries a tag: it is the \
         sum that was asked for, or refused; a sum takes at most {} bytes",
        report.bytes_an_answer
    ));
    let bytes: Vec<String> = report
        .bytes_for_windows
        .iter()
        .map(|(windows, bytes)| format!("{bytes} bytes for {}", grouped(*windows)))
        .collect();
    say(format!(
        "    a sum holds {} windows, longer ones are added by you; the size of a window depends on it: {}",
        grouped(report.sums_of),
        bytes.join(", ")
    ));
    counts(chosen, report);
    window_by_window(chosen, report);
    predicted(chosen);
    lost(report);
}

/// Prints the values of a window that do not add, and the bytes of an answer that brings them down.
fn window_by_window(chosen: &Chosen, report: &StreamReport) {
    let Some(held) = report.window_by_window else { return };
    let of = |(name, quantities): (&String, &BTreeSet<WindowQuantity>)| {
        let mut words: Vec<&str> = Vec::new();
        for quantity in quantities {
            // Several values may be one thing to a reader, as both places of a direction.
            if !words.contains(&quantity.words()) {
                words.push(quantity.words());
            }
        }
        format!("{} of {name}", words.join(" and "))
    };
    let quantities: Vec<String> = chosen.stream.needs.windows.iter().map(of).collect();
    let windows = windows_a_year(&chosen.cut);
    let come_down = match held.values {
        1 => "1 value of each window comes down by itself".to_owned(),
        values => format!("{values} values of each window come down by themselves"),
    };
    say(format!(
        "    it sends {} in each window, {} bytes of it: such values do not add, so {come_down}, {} bytes for each of the {} windows of a year",
        quantities.join(", "),
        held.bytes_sent,
        held.bytes_down,
        grouped(windows as u64)
    ));
}

/// Prints the bins in which a device counts readings, their bytes, and the width that quantiles get.
fn counts(chosen: &Chosen, report: &StreamReport) {
    for placed in report.parts.iter().flat_map(|part| &part.quantities) {
        let Quantity::Bins { column, edges } = &placed.quantity else { continue };
        let bins = ChannelBins { channel: *column, edges: edges.clone() };
        let Some(channel) = chosen.layout.channels().get(usize::from(*column)) else { continue };
        let Some(quantiser) = chosen.layout.quantiser(*column) else { continue };
        let bytes = (bins.count() * usize::from(placed.width)).div_ceil(8);
        let widths = bins.ends(quantiser).map(|(low, high)| quantiser.value(high) - quantiser.value(low));
        let width = widths.fold(0.0, f64::max) / 2.0 + quantiser.value_error();
        let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
        say(format!(
            "    it sends counts of {} in {} bins, {bytes} bytes of a window: you see the histogram beside the answer; quantiles within \
             {}{unit}",
            channel.name,
            bins.count(),
            super::show::rounded_up(width),
        ));
    }
}

/// Prints the rejected alternatives and the reason for each.
fn lost(report: &StreamReport) {
    let unsaid =
        report.alternatives.iter().filter(|alternative| Some(*alternative) != report.other_way.as_ref());
    for alternative in unsaid {
        let degree = match alternative.n {
            0 => String::new(),
            n => format!(" with n = {n}"),
        };
        say(format!("    not {}{degree}: {}", alternative.scheme, alternative.why));
    }
}

fn predicted(chosen: &Chosen) {
    if let Some(seconds) = seconds_a_window(chosen) {
        let year = windows_a_year(&chosen.cut);
        say(format!(
            "    predicted: {} of computing a window, {} for the {year:.0} windows of a year (measured on this machine)",
            crate::phases::duration(1e6 * seconds),
            crate::phases::duration(1e6 * seconds * year)
        ));
    }
}
