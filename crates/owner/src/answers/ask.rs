//! Answering a question: list windows, group them by the clock, let the cloud sum them, decrypt the sums.

use std::collections::BTreeSet;
use std::time::Instant;

use sotto_api::reason::BODY_DROPPED;
use sotto_cloud_client::CloudError;

use super::along::Series;
use super::answer::{Answer, VERSION};
use super::cause::{self, Facts};
use super::column::RowTimes;
use super::columns::{columns, of_rows, unproved};
use super::computed::computed;
use super::earlier::{self, EarlierGroups};
use super::evidence::LogsThen;
use super::listed::{complete, left_out, listed, shown};
use super::pass::Pass;
use super::ranked::ranked;
use super::rows::rows;
use super::then::Shown;
use super::{fetch, group_notes, many, notes, priced, tag_notes};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::language::Period;
use crate::lie::Lie;
use crate::orders::{Learnt, Orders};
use crate::question::{Asked, Question};
use crate::windows::DeviceWindows;
use crate::work::{Computer, OnProgress, Used};
use crate::{cache, declared, windows};

/// Answers a question from the windows stored in the cloud.
///
/// `as_of` has the logs as they were when an earlier answer was given: later windows count for nothing.
pub(crate) fn ask(
    plant: &Plant,
    question: &Question,
    as_of: Option<&LogsThen>,
    progress: OnProgress<'_>,
) -> Result<Answer, OwnerError> {
    if let Period::During(during) = &question.period {
        let (now, clock) = (jiff::Timestamp::now().as_millisecond(), plant.settings().clock()?);
        let beyond = || OwnerError::Question(format!("{during} is beyond the calendar"));
        let absolute = question.clone().back_from(now, &clock).ok_or_else(beyond)?;
        let note = format!("{during} is{}", absolute.period.to_string().replacen("since", "from", 1));
        let mut answer = ask(plant, &absolute, as_of, progress)?;
        answer.notes.insert(0, note);
        return Ok(answer);
    }
    match ask_once(plant, question, as_of, progress) {
        // A window came in the place of its pieces meanwhile: the log has it now. A shared answer takes its results of the
        // flooding budget once.
        Err(OwnerError::Cloud(CloudError::Refused { kind, .. }))
            if as_of.is_none() && !question.shared && kind.ends_with(BODY_DROPPED) =>
        {
            ask_once(plant, question, as_of, progress)
        }
        // Another computer of the owner may have deleted it.
        Err(OwnerError::Lie(Lie::MissingWindow { device, reason })) => {
            let (is_ordered, notes) = windows::learn_orders(plant, &plant.cloud()?)?;
            if is_ordered {
                return ask_once(plant, question, as_of, progress);
            }
            // A copy with a key of its own may have.
            let reason = std::iter::once(reason).chain(notes).collect::<Vec<_>>().join(". ");
            Err(Lie::MissingWindow { device, reason }.into())
        }
        answered => answered,
    }
}

/// Returns true if sums of earlier answers may be taken. Windows that another computer of the owner deleted are marked first:
/// without a cache the cloud's refusal of their sums would show them. Orders of unknown keys may have deleted others, so that
/// every sum is asked for.
fn may_cache(plant: &Plant, orders: &Orders<'_>) -> Result<bool, OwnerError> {
    if !plant.caches() {
        return Ok(false);
    }
    // There is nothing yet that the orders could be about.
    if !cache::has_any(plant) {
        return Ok(true);
    }
    let Learnt { ours, unknown } = orders.learn()?;
    if !unknown.is_empty() {
        return Ok(false);
    }
    if !cache::is_marked(plant, ours) {
        windows::learn_orders(plant, orders.cloud)?;
        cache::mark(plant, ours);
    }
    Ok(true)
}

fn ask_once(
    plant: &Plant,
    question: &Question,
    as_of: Option<&LogsThen>,
    progress: OnProgress<'_>,
) -> Result<Answer, OwnerError> {
    let begin = Instant::now();
    let (cloud, clock) = (plant.cloud()?, plant.settings().clock()?);
    let asked = Asked::new(question);
    let orders = Orders::new(plant, &cloud);
    let caches = may_cache(plant, &orders)?;
    let listing = Instant::now();
    let mut listed = listed(&orders, &asked, (as_of, true), &clock)?;
    let listing = listing.elapsed();
    let known = cloud.devices().collect::<Result<Vec<_>, _>>()?;
    let twice = windows::mark_twice(plant, &known, listed.devices.iter_mut())?;
    let mut computer = Computer::new(plant, &cloud, question.shared)?.caching(caches);
    computer.spent.record("list", listing);
    let of_rows = of_rows(plant.settings(), &asked, &listed);
    let rows_shown = Shown { listed: &listed, clock: &clock, known: &known };
    let list = |of| EarlierGroups::list(of, &rows_shown, &orders, as_of);
    let mut earlier = earlier::questions(question)
        .into_iter()
        .map(list)
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    let asked_then: Vec<Asked<'_>> = earlier.iter().map(|earlier| Asked::new(&earlier.question)).collect();
    let then = asked_then.iter().zip(earlier.iter().map(|earlier| &earlier.listed));
    let passes: Vec<_> = std::iter::once((&asked, &listed)).chain(then).collect();
    fetch::within(plant.settings(), &asked, &passes, &computer).map_err(|error| shown(plant, error))?;
    let mut done = computed(plant.settings(), &asked, &mut listed, &mut computer, progress)
        .map_err(|error| shown(plant, error))?;
    let undecided = notes::on_undecided(&asked, done.by_device.iter());
    let by_device = std::mem::take(&mut done.by_device);
    let columns = columns((plant.settings(), &clock), &asked, &listed, &of_rows, by_device);
    let pass = Pass { asked: &asked, listed: &listed, columns: &columns, undecided, twice: &twice };
    let needed = question.channels();
    let mut notes: Vec<String> = declared::not_pinned(plant).into_iter().collect();
    notes.extend(pass.on_windows());
    notes.extend(orders.notes());
    notes.extend(group_notes::on_hidden(&listed.segments.rows, listed.hidden, question.by, &clock));
    notes.extend(group_notes::on_days(question));
    notes.extend(priced::notes(question));
    notes.extend(tag_notes::on_tags(plant.settings(), question, &listed.devices));
    notes.extend(notes::on_unknown(plant, &cloud, &known)?);
    let mut of_earlier: Vec<String> = Vec::new();
    for groups in &mut earlier {
        let also = groups.compute((plant.settings(), &clock), &of_rows, &mut computer, progress);
        let also = also.map_err(|error| self::shown(plant, error))?;
        let new: Vec<String> = also.notes.into_iter().filter(|note| !of_earlier.contains(note)).collect();
        of_earlier.extend(new);
        done.add(also.done);
    }
    notes.extend(done.faulty.iter().map(|(device, windows)| notes::on_faulty(device, windows)));
    notes.extend(notes::on_removed(plant, &clock, &done.took_part()));
    notes.extend(fetch::note(&asked, &done.came_down));
    let left_out = left_out(&listed, &needed);
    let logs = listed.devices.iter().map(|device| (device.device.clone(), device.logs.clone())).collect();
    let (took_part, used) = (done.took_part(), std::mem::take(&mut done.used));
    let faulty = done.faulty.iter().map(|(device, windows)| (device.clone(), windows.len() as u64)).collect();
    let then = earlier.iter().flat_map(|earlier| earlier.twice());
    let devices_twice = twice.iter().chain(then).map(|(device, _)| device.clone()).collect();
    let unchecked =
        unproved(devices_twice, columns.iter().chain(earlier.iter().flat_map(EarlierGroups::columns)));
    let times = RowTimes { times: &listed.segments.rows, hidden: listed.before };
    let series = Series::new(&asked, times, &columns, &earlier, plant.settings());
    notes.extend(pass.on_results(plant.settings(), &clock));
    notes.extend(series.notes(&asked, &columns, times.hidden));
    let shown: Vec<&str> = listed.devices.iter().map(|device| device.shown.as_str()).collect();
    let notes = many::merged(notes, &shown).into_iter().chain(of_earlier);
    let rows = rows(&asked, times, &columns, &series, plant.settings());
    let facts = Facts {
        question,
        devices: &listed.devices,
        between: listed.between,
        last: listed.last,
        clock: &clock,
        now: jiff::Timestamp::now().as_millisecond(),
    };
    let empty = cause::why(&rows, &facts);
    let (rows, ranked) = match (question.ranking, asked.results.first()) {
        (Some(ranking), Some(first)) => ranked(ranking, &first.name, rows),
        _ => (rows, Vec::new()),
    };
    let notes = question.remarks.iter().cloned().chain(notes).chain(ranked).collect();
    let Computer { spent, mut evidence, .. } = computer;
    let roots = |device: &DeviceWindows| {
        device.roots.iter().map(|(stream, root)| (stream.clone(), hex::encode(root))).collect()
    };
    evidence.roots = listed.devices.iter().map(|device| (device.device.clone(), roots(device))).collect();
    let then = || earlier.iter().flat_map(|earlier| &earlier.listed.devices);
    let of_both = listed.devices.iter().map(|device| {
        let then = then().filter(|other| other.device == device.device);
        let listed = std::iter::once(device).chain(then).flat_map(|device| &device.windows);
        let numbers = used.get(&device.shown).map(|used| used.numbers(listed));
        (device.device.clone(), numbers.unwrap_or_default())
    });
    evidence.windows = of_both.collect();
    let repeated: BTreeSet<&String> = evidence.work.iter().flat_map(|work| &work.inputs).collect();
    let leaves = used.values().flat_map(Used::leaves);
    let bytes = leaves.filter(|(leaf, _)| !repeated.is_empty() && repeated.contains(&hex::encode(leaf)));
    let repeat_bytes = bytes.map(|(_, bytes)| bytes).sum();
    Ok(Answer {
        version: VERSION,
        question: question.to_string(),
        scheme: question.scheme,
        rows: rows.into_iter().map(|row| row.dated(&clock)).collect(),
        bytes_up: used.values().map(Used::bytes).sum(),
        bytes_down: spent.bytes_down,
        seconds: begin.elapsed().as_secs_f64(),
        windows: used.values().map(Used::windows).sum(),
        jobs: spent.jobs,
        cached: spent.cached,
        evaluate_us: spent.evaluate_us,
        steps: spent.steps,
        schemes: spent.schemes,
        took_part,
        faulty,
        unchecked,
        holds_unchecked: false,
        repeat_bytes,
        flooded: spent.flooded,
        left_out,
        logs,
        complete: complete(&listed.devices, &clock),
        empty,
        notes,
        time_zone: clock.name().to_owned(),
        phases: spent.phases,
        repeated: None,
        evidence,
    })
}
