//! The steps of a history.

use std::fmt;

use crate::suites::ask::Numbers;

/// A step. Numbers choose among the devices, files and copies that there are when it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// A device sends new hours; with `again`, also all hours before.
    Send {
        device: usize,
        again: bool,
    },
    /// A device gets a new bundle.
    Renew {
        device: usize,
    },
    /// A new device is added, or one that was removed.
    Add,
    Remove {
        device: usize,
    },
    RenameDevice {
        device: usize,
    },
    RenameChannel {
        channel: usize,
    },
    /// The time zone is edited.
    Zone {
        zone: usize,
    },
    /// The range of a channel is edited.
    Widen {
        channel: usize,
    },
    /// A file or a folder is deleted.
    Lose {
        file: usize,
    },
    /// All bundles of a device are deleted where the owner had them.
    LoseBundles {
        device: usize,
    },
    /// The folder is copied.
    Copy,
    /// An older copy replaces the folder, or one file or folder in it.
    Restore {
        copy: usize,
        file: Option<usize>,
    },
    /// A device gets a new bundle in a copy of the folder.
    InCopy {
        copy: usize,
        device: usize,
    },
    /// The cloud's folder is copied.
    CopyCloud,
    /// The copy of the cloud's folder is put back.
    SetBack,
    /// `sotto backup` writes its file, or appends to it.
    Backup,
    /// `sotto restore` puts missing files back; with `replace` all but secrets.
    FromBackup {
        replace: bool,
    },
    /// A passphrase is set or removed.
    Passphrase {
        set: bool,
    },
    /// A command is killed after some milliseconds.
    Kill {
        command: usize,
        after: u64,
    },
    /// A question is asked, and checked.
    Ask,
}

impl Operation {
    pub(super) fn random(numbers: &mut Numbers) -> Self {
        let mut below = |most: usize| (numbers.next() * most as f64) as usize;
        match below(100) {
            0..18 => Self::Send { device: below(8), again: below(3) == 0 },
            18..27 => Self::Renew { device: below(8) },
            27..32 => Self::Add,
            32..36 => Self::Remove { device: below(8) },
            36..41 => Self::RenameDevice { device: below(8) },
            41..46 => Self::RenameChannel { channel: below(2) },
            46..51 => Self::Zone { zone: below(5) },
            51..54 => Self::Widen { channel: below(2) },
            54..63 => Self::Lose { file: below(64) },
            63..66 => Self::InCopy { copy: below(8), device: below(8) },
            66 => Self::CopyCloud,
            67 => Self::SetBack,
            68..70 => Self::LoseBundles { device: below(8) },
            70..75 => Self::Copy,
            75..78 => Self::Backup,
            78..80 => Self::FromBackup { replace: below(2) == 0 },
            80..82 => Self::Passphrase { set: below(3) > 0 },
            82..90 => Self::Restore { copy: below(8), file: (below(2) == 0).then_some(below(64)) },
            90..96 => Self::Kill { command: below(10), after: below(60) as u64 },
            _ => Self::Ask,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
