//! Questions that cannot work: refused before they are asked, whatever the readings are.

use sotto_pack::Clock;

use super::plant::Plant;
use crate::error::OwnerError;
use crate::functions::{Call, Circumstances};
use crate::language::{By, Clause, OfDevice, Period, QuestionError, Scope, TextSpans};
use crate::question::Question;

const HOUR: u64 = 3_600_000;

/// Refuses a question that cannot work. `is_new` is true if it is being declared: then its windows are still to come.
pub(super) fn check(
    plant: &Plant,
    question: &Question,
    places: &TextSpans,
    is_new: bool,
) -> Result<(), OwnerError> {
    let at = |error: QuestionError| OwnerError::Question(error.to_string());
    let clock = plant.settings().clock()?;
    let of_period = |reason: String| places.error_at_clause(Clause::Period, reason);
    if let Some(reason) = empty(&question.period, &clock) {
        return Err(OwnerError::EmptyTime(of_period(reason).to_string()));
    }
    if let Some(reason) = too_short(plant, question) {
        return Err(at(of_period(reason)));
    }
    if let Some(reason) = too_fine(plant, question) {
        return Err(at(places.error_at_clause(Clause::By, reason)));
    }
    let circumstances = circumstances(plant, question, &clock, is_new);
    for (index, (call, of)) in question.calls_of().enumerate() {
        let reason =
            call.cannot_work(&circumstances).or_else(|| nobody_measures(plant, question, (call, of)));
        let reason = reason.or_else(|| lacking(plant, question, call));
        let Some(reason) = reason else { continue };
        let of_call = || places.error_at_call(index, reason.clone());
        // The condition of an alarm may name a channel without a call.
        let channel = call.channels().first().copied().filter(|_| !places.has_call(index));
        return Err(at(channel.map_or_else(of_call, |name| places.error_at_channel(name, reason.clone()))));
    }
    Ok(())
}

/// Returns the facts by which functions refuse what cannot work.
pub(super) fn circumstances<'p>(
    plant: &'p Plant,
    question: &Question,
    clock: &Clock,
    is_new: bool,
) -> Circumstances<'p> {
    Circumstances { channels: plant.settings(), is_new, longest: longest(question, clock) }
}

/// Returns why a period has no time in it; None if it has.
pub(super) fn empty(period: &Period, clock: &Clock) -> Option<String> {
    let (since, until) = ends(period, clock)?;
    let reason =
        || "until is not after since, so that the time is empty: exchange them, or move one".to_owned();
    (since >= until).then(reason)
}

/// Returns the ends of a period that names both.
fn ends(period: &Period, clock: &Clock) -> Option<(i64, i64)> {
    match period {
        Period::Between { since: Some(since), until: Some(until) } => since.at(clock).zip(until.at(clock)),
        Period::During(during) if !during.is_relative() => during.between(0, clock),
        _ => None,
    }
}

/// Returns why `over` is shorter than the time between two readings of a channel; None if it is not.
fn too_short(plant: &Plant, question: &Question) -> Option<String> {
    let Period::Over(time) = &question.period else { return None };
    question.channels().into_iter().find_map(|name| {
        let every = plant.settings().channels.get(&name)?.every;
        let is_short = 1000 * time.seconds() < u64::from(every.milliseconds());
        is_short.then(|| format!("{time} is shorter than the {every} between two readings of {name}"))
    })
}

/// Returns why groups are shorter than the time between two readings of a channel; None if they are not.
fn too_fine(plant: &Plant, question: &Question) -> Option<String> {
    let Some(By::Every(length)) = question.by else { return None };
    question.channels().into_iter().find_map(|name| {
        let every = plant.settings().channels.get(&name)?.every;
        let is_short = 1000 * length.seconds() < u64::from(every.milliseconds());
        is_short.then(|| format!("{length} is shorter than the {every} between two readings of {name}: most groups would be empty"))
    })
}

/// Returns why none of the devices that a call or the question names answers the call; None if one may.
fn nobody_measures(
    plant: &Plant,
    question: &Question,
    (call, of): (&Call, Option<&Scope>),
) -> Option<String> {
    let is_of_question = matches!(of, None | Some(Scope::AllDevices));
    let is_of_any = is_of_question && question.only.is_none() && question.tags.is_empty();
    if is_of_any || !call.two_devices().is_empty() {
        return None;
    }
    let (settings, channels) = (plant.settings(), call.channels());
    let has = |own: &[String]| channels.iter().all(|channel| own.iter().any(|own| own == channel));
    // The channels of a removed device are those of its stored windows.
    let mut devices = settings.devices.iter().map(|(name, device)| (name, has(&device.channels)));
    let removed = plant.removed().keys().map(|name| (name, true));
    let takes = |name: &str| settings.takes(question, (call, of), settings.member(name));
    if devices.by_ref().chain(removed).any(|(name, may)| may && takes(name)) {
        return None;
    }
    let all = if channels.len() > 1 { "all of " } else { "" };
    let channels = channels.join(", ");
    Some(match of {
        Some(Scope::Device(name)) => {
            let measures = settings.devices.get(name).map(|device| device.channels.join(", "));
            format!("{name} does not measure {all}{channels}, but {}", measures.unwrap_or_default())
        }
        Some(Scope::Tag(tag)) => format!("no device with the tag {tag} measures {all}{channels}"),
        Some(Scope::AllDevices) | None => format!("no device of the where clause measures {all}{channels}"),
    })
}

/// Returns why a device that a call names cannot take part; None if all can.
fn lacking(plant: &Plant, question: &Question, call: &Call) -> Option<String> {
    call.two_devices().into_iter().filter(|of| !of.is_open()).find_map(|of| {
        let OfDevice { channel, device } = of;
        let only = question.only.as_ref();
        if only.is_some_and(|only| !only.contains(device)) {
            return Some(format!("the where clause leaves {device} out: name it there, too"));
        }
        // The channels of a removed device are those of its stored windows.
        let settings = plant.settings().devices.get(device)?;
        let measures = settings.channels.contains(channel);
        (!measures)
            .then(|| format!("{device} does not measure {channel}, but {}", settings.channels.join(", ")))
    })
}

/// Returns the longest time of a group, in milliseconds.
fn longest(question: &Question, clock: &Clock) -> Option<u64> {
    let of_group = question.by.filter(|by| !by.is_recurring()).map(|by| match by {
        // Above an hour, a group goes on over a change of the clock.
        By::Every(length) if 1000 * length.seconds() > HOUR => 1000 * length.seconds() + HOUR,
        By::Every(length) => 1000 * length.seconds(),
        By::Hour => HOUR,
        // A window covers at most a day.
        By::Window | By::Day => 25 * HOUR,
        By::Week => (7 * 24 + 1) * HOUR,
        By::Month | By::MonthFrom(_) => (31 * 24 + 1) * HOUR,
        By::Quarter => (92 * 24 + 1) * HOUR,
        By::Year | By::Recurring { .. } => (366 * 24 + 1) * HOUR,
    });
    [of_group, longest_period(question, clock)].into_iter().flatten().min()
}

/// Returns the longest time that a question covers, in milliseconds.
fn longest_period(question: &Question, clock: &Clock) -> Option<u64> {
    match &question.period {
        // Days follow the clock: one of them may have an hour more.
        Period::Over(time) if time.seconds() >= 86_400 => Some(1000 * time.seconds() + HOUR),
        Period::Over(time) => Some(1000 * time.seconds()),
        period => {
            let (since, until) = ends(period, clock)?;
            u64::try_from(until.saturating_sub(since)).ok()
        }
    }
}
