//! `sotto-agent requeue`: sends refused messages again.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, bail};
use sotto_wire::Envelope;

use crate::arguments::RequeueArguments;
use crate::bundle::Bundle;
use crate::nouns::counted;
use crate::position::{Learning, NoPosition};
use crate::send::{Sender, Sending};
use crate::spool::{NewNames, PutBack, Sent, refuse_places};
use crate::stop::Stop;

/// Moves the refused messages back into the spool, sends all that wait, and returns a line with their number.
///
/// # Errors
/// The bundle, the spool or the cloud cannot be used, or messages are refused again.
pub fn run(arguments: &RequeueArguments, stop: &Stop) -> Result<String> {
    let bundle = Bundle::read(&arguments.device.bundle)?;
    let (profile, folder) = (&bundle.profile, arguments.device.spool_folder());
    refuse_places(&folder, &profile.device, &profile.clock()?, true)?;
    let sending = Sending::open(&arguments.device, &bundle, i64::MAX)?;
    let (spool, journal) = (Arc::clone(&sending.spool), sending.journal.clone());
    let in_cloud = ask(&sending, &bundle)?;
    let sign = |envelope: Envelope, sequence: u64, names: &NewNames| {
        let sign = |message: &[u8]| bundle.identity.sign(message);
        Ok(envelope.renamed(sequence, |number| names.of(number), sign)?.write_kept())
    };
    let done = spool.put_back(&in_cloud, &sending.cuts, sign)?;
    done.moved.iter().try_for_each(|(stream, from, to)| sending.kept.renumber(stream, *from, *to))?;
    spool.close();
    Sender::start(sending, stop.clone()).finish()?;
    let aside = spool.refused_folder().display().to_string();
    let mut line = told(&done, &aside);
    let lacked = journal.windows_sent_again();
    if lacked > 0 {
        line += &format!("; {} that a restored cloud lacked", counted(lacked, "window"));
    }
    if let Some(reason) = journal.why_unregistered() {
        bail!("{line}; {reason}");
    }
    if journal.refusals() > 0 {
        bail!("{line}; {} refused again: see `sotto-agent status`", counted(journal.refusals(), "message"));
    }
    if spool.waiting() > 0 {
        bail!(
            "{line}; {} still in the spool: the next run sends them",
            counted(spool.waiting() as u64, "message")
        );
    }
    if done.divided > 0 {
        bail!(
            "{line}; {} in {aside} with some ticks that the cloud has and some that it lacks: run the agent on the same source \
             again, then `sotto-agent requeue`; readings that no source has any more are in these files alone",
            counted(done.divided as u64, "message")
        );
    }
    Ok(line)
}

/// Asks the cloud where the streams stand, and sets the spool to it. Returns the ticks of the cloud's windows for the streams
/// of messages that were refused for another window.
fn ask(sending: &Sending, bundle: &Bundle) -> Result<BTreeMap<String, Sent>> {
    let (spool, positions) = (&sending.spool, sending.positions());
    let disputed = spool.disputed_streams()?;
    let mut streams = disputed.clone();
    streams.extend(bundle.profile.streams.iter().map(|stream| stream.stream.clone()));
    let unknown = |stream: &str, why: &NoPosition| {
        anyhow::anyhow!(
            "the cloud does not say where stream {stream} stands: {}; nothing was changed",
            why.reason()
        )
    };
    let (mut numbers, mut all) = (Vec::new(), Vec::new());
    for stream in streams {
        if disputed.contains(&stream) {
            let learnt = positions.learn(&stream, &mut Learning::default());
            all.push((stream.clone(), learnt.map_err(|why| unknown(&stream, &why))?));
        } else {
            let standing = positions.ask(&stream).map_err(|why| unknown(&stream, &why))?;
            numbers.push((stream, standing.next));
        }
    }
    let mut in_cloud = BTreeMap::new();
    for (stream, learnt) in all {
        if learnt.of_windows {
            spool.learn(&stream, learnt.clone(), &sending.cuts)?;
            in_cloud.insert(stream, learnt.sent);
        } else {
            numbers.push((stream, learnt.next));
        }
    }
    for (stream, next) in numbers {
        spool.resume(&stream, next, None)?;
    }
    Ok(in_cloud)
}

fn told(done: &PutBack, aside: &str) -> String {
    let PutBack { messages, renumbered, bytes, damaged, superfluous, .. } = *done;
    let mut line = format!("{} sent again, {bytes} bytes", counted(messages as u64, "message"));
    if renumbered > 0 {
        line += &format!("; {renumbered} of them with other sequence numbers");
    }
    if superfluous > 0 {
        line += &format!(
            "; {} deleted, as windows in the cloud have all of the ticks",
            counted(superfluous as u64, "message")
        );
    }
    if damaged > 0 {
        line += &format!("; {damaged} cannot be read, and stay in {aside}");
    }
    line
}
