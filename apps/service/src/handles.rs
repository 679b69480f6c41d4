//! File handles of the process: the limit is raised at start, and the number of connections fits it.

use crate::connections::Limits;

/// Handles kept for the store, logs, certificates, the listener and the runtime.
const RESERVED: u64 = 64;
/// Maximum number of requests that have a file open at the same time: threads for blocking work that tokio starts.
const MOST_FILES: u64 = 512;

/// Raises the limit on file handles to the highest allowed, and reduces `connections` to what fits. Says so in one line
/// of the log if it reduces them.
pub(crate) fn fit(limits: Limits) -> Limits {
    let Some(handles) = raised() else { return limits };
    let fitting = fitting(handles);
    if limits.connections <= fitting {
        return limits;
    }
    tracing::warn!(
        configured = limits.connections,
        connections = fitting,
        handles,
        "connections is reduced: the process may have too few file handles; raise its hard limit (ulimit -Hn, LimitNOFILE), or lower connections"
    );
    Limits { connections: fitting, ..limits }
}

/// Returns the number of connections that fit: each takes one handle, and its request may open a file.
fn fitting(handles: u64) -> usize {
    let left = handles.saturating_sub(RESERVED);
    let connections = (left / 2).max(left.saturating_sub(MOST_FILES)).max(1);
    usize::try_from(connections).unwrap_or(usize::MAX)
}

/// Raises the soft limit to the hard one and returns it; `None` if there is no limit.
#[cfg(unix)]
fn raised() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return limit.current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        Ok(()) => limit.maximum,
        // Some systems refuse a number above a limit of their own.
        Err(error) => {
            tracing::debug!(%error, "the limit on file handles cannot be raised");
            limit.current
        }
    }
}

#[cfg(not(unix))]
fn raised() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_their_files_fit_the_handles() {
        for handles in [0, 1, 65, 256, 300, 1024, 1088, 1089, 4096, 20_000, u64::MAX] {
            let connections = fitting(handles) as u64;
            assert!(connections >= 1, "a service without a connection is none");
            if handles > 2 * RESERVED {
                let files = connections.min(MOST_FILES);
                let needed = u128::from(connections) + u128::from(files) + u128::from(RESERVED);
                assert!(needed <= u128::from(handles), "{handles}: {connections}");
            }
        }
        assert_eq!(fitting(4096 + 576), 4096, "the default of the cloud");
    }
}
