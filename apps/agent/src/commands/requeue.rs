//! `sotto-agent requeue`: sends refused messages again.

use std::sync::Arc;

use anyhow::{Result, bail};
use sotto_wire::Envelope;

use crate::arguments::RequeueArguments;
use crate::bundle::Bundle;
use crate::send::{Sender, Sending};
use crate::spool::{PutBack, refuse_places};
use crate::stop::Stop;
use crate::summary::counted;

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
    for stream in bundle.profile.streams.iter().map(|stream| &stream.stream) {
        match sending.positions().ask(stream) {
            Ok(standing) => spool.resume(stream, standing.next, None)?,
            Err(why) => {
                let reason = why.reason();
                bail!("the cloud does not say where stream {stream} stands: {reason}; nothing was changed");
            }
        }
    }
    let renumber = |envelope: Envelope, sequence: u64| {
        Ok(envelope.renumbered(sequence, |message| bundle.identity.sign(message))?.write_kept())
    };
    let PutBack { messages, renumbered, bytes, damaged, moved } = spool.put_back(renumber)?;
    moved.iter().try_for_each(|(stream, from, to)| sending.kept.renumber(stream, *from, *to))?;
    spool.close();
    Sender::start(sending, stop.clone()).finish()?;
    let mut line = format!("{} sent again, {bytes} bytes", counted(messages as u64, "message"));
    if renumbered > 0 {
        line += &format!("; {renumbered} of them with other sequence numbers");
    }
    if damaged > 0 {
        let aside = spool.refused_folder();
        line += &format!("; {damaged} cannot be read, and stay in {}", aside.display());
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
    Ok(line)
}
