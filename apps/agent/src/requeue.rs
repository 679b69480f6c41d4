//! `sotto-agent requeue`: sends refused messages again.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use sotto_wire::Envelope;

use crate::arguments::RequeueArguments;
use crate::bundle::{self, Bundle};
use crate::journal::Journal;
use crate::pinned::Pinned;
use crate::position::Positions;
use crate::send::{Sender, Sending};
use crate::spool::{REFUSED, Requeued, Spool};
use crate::stop::Stop;
use crate::streams;
use crate::summary::counted;
use crate::upload::Cloud;

/// Moves the refused messages back into the spool, sends all that wait, and returns a line with their number.
///
/// # Errors
/// The bundle, the spool or the cloud cannot be used, or messages are refused again.
pub fn run(arguments: &RequeueArguments, stop: &Stop) -> Result<String> {
    let RequeueArguments { device: arguments } = arguments;
    let bundle = Bundle::read(&arguments.bundle)?;
    let folder = arguments.spool.clone().unwrap_or_else(|| bundle::spool_of(&arguments.bundle));
    let trust = bundle.trust(arguments.ca.as_deref())?;
    let Bundle { profile, identity, cloud, .. } = bundle;
    let cloud = Cloud::new(arguments.cloud.as_deref().unwrap_or(&cloud), trust)?;
    let (cuts, identity) = (streams::cuts(&profile)?, Arc::new(identity));
    let spool = Arc::new(Spool::open(&folder, &profile.device, arguments.spool_limit, &cuts)?);
    let positions = Positions { device: &profile.device, identity: &identity, cloud: &cloud, cuts: &cuts };
    for stream in profile.streams.iter().map(|stream| &stream.stream) {
        match positions.ask(stream) {
            Ok(standing) => spool.resume(stream, standing.next, None)?,
            Err(why) => {
                let reason = why.reason();
                bail!("the cloud does not say where stream {stream} stands: {reason}; nothing was changed");
            }
        }
    }
    let renumber = |envelope: Envelope, sequence: u64| {
        Ok(envelope.renumbered(sequence, |message| identity.sign(message))?.write_kept())
    };
    let Requeued { messages, renumbered, bytes, damaged } = spool.requeue(renumber)?;
    let journal = Journal::default();
    spool.close();
    let sending = Sending {
        spool: Arc::clone(&spool),
        cloud,
        pinned: Pinned::new(&arguments.cloud_key, &profile),
        journal: journal.clone(),
        device: profile.device,
        identity: Arc::clone(&identity),
        cuts,
        // Requeueing encrypts nothing, so no shared masks.
        shared: Arc::default(),
    };
    Sender::start(sending, stop.clone()).finish()?;
    let mut line = format!("{} sent again, {bytes} bytes", counted(messages as u64, "message"));
    if renumbered > 0 {
        line += &format!("; {renumbered} of them with other sequence numbers");
    }
    let aside: PathBuf = folder.join(REFUSED);
    if damaged > 0 {
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
