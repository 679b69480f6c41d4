//! Opens a cloud: the store, the devices of the enrolment folder, then the repair, which needs their keys.

use crate::cloud::Cloud;
use crate::config::Config;
use crate::enrolments;
use crate::store::{Opening, Recovered, Sealing};

/// Opens a cloud to serve it.
pub(crate) fn open(config: &Config) -> anyhow::Result<Cloud> {
    let cloud = Cloud::open(config, Opening::Serve)?;
    enrolments::read_folder(&cloud);
    cloud.store.recover()?;
    // A start does not wait for an object store to merge segments.
    cloud.store.wait_for_tier(false);
    let sealed = cloud.store.seal(Sealing::All)?;
    if sealed > 0 {
        tracing::info!(windows = sealed, "brought into segments");
        cloud.store.tidy()?;
    }
    Ok(cloud)
}

/// Rebuilds the rows of envelopes, including envelopes that were put aside.
pub(crate) fn rebuild(config: &Config) -> anyhow::Result<Recovered> {
    let cloud = Cloud::open(config, Opening::Rebuild)?;
    enrolments::read_folder(&cloud);
    cloud.store.fetch_all()?;
    cloud.store.take_orphans_back()?;
    Ok(cloud.store.recover()?)
}
