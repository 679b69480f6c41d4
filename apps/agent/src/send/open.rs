//! Opens the spool and the way to the cloud.

use hex::FromHex as _;
use std::sync::Arc;

use anyhow::Result;

use super::Sending;
use crate::arguments::DeviceArguments;
use crate::bundle::Bundle;
use crate::journal::Journal;
use crate::last_receipts::LastReceipts;
use crate::output::tell;
use crate::pinned::Pinned;
use crate::source::now;
use crate::spool::Spool;
use crate::spool::kept::{Kept, KeptKey};
use crate::streams;
use crate::upload::Cloud;

/// The words for a cloud without a pinned key.
pub(crate) const UNPINNED: &str = "sotto-agent: no key of the cloud is pinned, so whatever answers at its address may take messages: `sotto cloud \
                                   pin KEY` and a new bundle, or --cloud-key KEY";

impl Sending {
    /// Opens the spool of a device, for the cloud of the arguments, else of the bundle. Readings are kept for `late`
    /// milliseconds after they were sent. Connects to nothing yet.
    ///
    /// # Errors
    /// Names the argument or file that cannot be used, and the reason.
    pub fn open(arguments: &DeviceArguments, bundle: &Bundle, late: i64) -> Result<Self> {
        let trust = bundle.trust(arguments.ca.as_deref())?;
        let cloud = Cloud::new(arguments.cloud.as_ref().unwrap_or(&bundle.cloud), trust)?;
        let sending = Self::open_for(cloud, arguments, bundle, late)?;
        if sending.pinned.is_empty() {
            tell(UNPINNED);
        }
        Ok(sending)
    }

    /// Like [`Sending::open`], for a cloud whose connections others may share. Says nothing if no key of it is pinned.
    ///
    /// # Errors
    /// Those of [`Sending::open`].
    pub(crate) fn open_for(
        cloud: Cloud,
        arguments: &DeviceArguments,
        bundle: &Bundle,
        late: i64,
    ) -> Result<Self> {
        let cuts = streams::cuts(&bundle.profile)?;
        let device = bundle.profile.device.clone();
        let folder = arguments.spool_folder();
        let spool = Spool::open(&folder, &device, arguments.spool_limit, &cuts)?;
        let spool = Arc::new(spool.keeping(arguments.keep(), now())?);
        let key = KeptKey::derive(&bundle.keys, &bundle.identity);
        let next = |stream: &str| spool.next_sequence(stream).unwrap_or(u64::MAX);
        if spool.is_new() {
            // The ticks that were sent are not known: neither are these windows.
            Kept::clear(&folder)?;
        }
        let kept = Arc::new(Kept::open(&folder, &device, key, late, next)?);
        kept.prune(now(), |stream| cuts.of(stream).is_some())?;
        let pinned = Pinned::new(&arguments.cloud_key, &bundle.profile);
        // It was validated when the profile was read.
        let owner = bundle.profile.owner_key.as_ref().and_then(|key| <[u8; 32]>::from_hex(key).ok());
        let last_receipts = Arc::new(LastReceipts::open(&folder));
        let (journal, identity) = (Journal::default(), Arc::clone(&bundle.identity));
        let deletions = Arc::default();
        Ok(Self {
            spool,
            kept,
            cloud,
            pinned,
            journal,
            device,
            identity,
            cuts,
            last_receipts,
            owner,
            deletions,
        })
    }
}
