//! The gateway: its devices, its journal, and the threads that they share.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::bounded;
use super::folder::{self, Stamp, own_folder};
use super::journal::{DeviceId, ReadingsJournal};
use super::member::{Member, RowsFrom, Work, lock};
use super::route::Routes;
use super::scheduler::Scheduler;
use super::staging::Staging;
use super::status::Snapshot;
use super::turn::Kind;
use crate::arguments::DeviceArguments;
use crate::spool::private;
use crate::stop::Stop;
use crate::upload::Cloud;

const LOCK: &str = "lock";
/// Time between two looks at the folder of bundles, and two states that are written for `status`.
const LOOK: Duration = Duration::from_secs(2);
/// Threads that wait for a spool or a cloud. Those that compute are as many as processors, at most four.
const OPENERS: usize = 4;
const SENDERS: usize = 4;
const MOST_DRIVERS: usize = 4;
/// Longest wait after a stop for devices that open, and for those that read the journal.
const CATCHING_UP: Duration = Duration::from_secs(20);
/// Longest time until all windows are in their spools after a stop, and until they are sent. The rest is sent by the next run.
const CLOSING: Duration = Duration::from_secs(60);
const SENDING: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);

/// How the devices of a gateway run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of bundles.
    pub devices: PathBuf,
    /// The device arguments that all devices share; bundle and spool are each device's own.
    pub device: DeviceArguments,
    /// Milliseconds for which readings of joined streams are kept.
    pub late: i64,
    /// Milliseconds between pieces of open windows.
    pub fresh: Option<u32>,
    /// Milliseconds after the ticks at which sensors report.
    pub phase: Option<u32>,
    /// True to take times that are more than a day ahead.
    pub allow_future: bool,
    /// Maximum bytes of the journal.
    pub journal_limit: u64,
}

/// A running gateway. Clones of its `Arc` take readings: see [`Intake`](super::Intake).
pub struct Gateway {
    pub(super) options: Options,
    own: PathBuf,
    pub(super) journal: ReadingsJournal,
    pub(super) members: RwLock<Arc<Members>>,
    /// Bundles that cannot be used, and the reasons.
    pub(super) faults: Mutex<BTreeMap<PathBuf, (Stamp, String)>>,
    /// Devices whose bundle went, until their windows are in their spools.
    leaving: Mutex<Vec<Arc<Member>>>,
    pub(super) staging: Mutex<Staging>,
    pub(super) staged: Condvar,
    /// The batch up to which rows were handed over to live devices.
    pub(super) handed: Mutex<u64>,
    pub(super) of_all: Arc<AtomicUsize>,
    pub(super) drives: Scheduler,
    pub(super) opens: Scheduler,
    pub(super) sends: Scheduler,
    /// Wakes the thread that reads the journal.
    pub(super) behind: Mutex<bool>,
    pub(super) wakes: Condvar,
    pub(super) clouds: Mutex<HashMap<CloudKey, SharedCloud>>,
    pub(super) unclaimed: Mutex<BTreeMap<String, u64>>,
    pub(super) stop: Stop,
    /// True once no rows are handed over any more.
    pub(super) ending: AtomicBool,
    _lock: File,
}

/// The address of a cloud, and the authority that its bundle trusts.
pub(super) type CloudKey = (String, Option<Vec<u8>>);

/// The devices, and the routes to them.
#[derive(Default)]
pub(super) struct Members {
    pub(super) list: Vec<Arc<Member>>,
    pub(super) routes: Routes,
}

/// The connections to a cloud, and the moment until which new spools wait for it.
#[derive(Clone)]
pub(super) struct SharedCloud {
    pub(super) cloud: Cloud,
    pub(super) patient_until: Instant,
}

/// The threads of a gateway.
pub struct Threads {
    commit: JoinHandle<()>,
    others: Vec<JoinHandle<()>>,
}

impl Gateway {
    /// Opens the journal and reads the bundles.
    ///
    /// # Errors
    /// The folder cannot be used, another gateway uses it, or it has no bundle that can be used.
    pub fn open(options: Options, stop: &Stop) -> Result<Arc<Self>> {
        let own = own_folder(&options.devices);
        let made = private::make_folder(&own).and_then(|()| private::close(&own));
        made.with_context(|| format!("{} cannot be made", own.display()))?;
        let lock = private::options().create(true).truncate(false).write(true).open(own.join(LOCK));
        let lock = lock.with_context(|| format!("{} cannot be used", own.display()))?;
        if lock.try_lock().is_err() {
            bail!("{} is in use: another gateway has these devices", options.devices.display());
        }
        let journal =
            ReadingsJournal::open(&own).with_context(|| format!("{} cannot be read", own.display()))?;
        let handed = Mutex::new(journal.next_batch());
        let gateway = Arc::new(Self {
            options,
            own,
            journal,
            members: RwLock::default(),
            faults: Mutex::default(),
            leaving: Mutex::default(),
            staging: Mutex::default(),
            staged: Condvar::new(),
            handed,
            of_all: Arc::default(),
            drives: Scheduler::new(Kind::Drive),
            opens: Scheduler::new(Kind::Open),
            sends: Scheduler::new(Kind::Send),
            behind: Mutex::new(true),
            wakes: Condvar::new(),
            clouds: Mutex::default(),
            unclaimed: Mutex::default(),
            stop: stop.clone(),
            ending: AtomicBool::new(false),
            _lock: lock,
        });
        gateway.look()?;
        if gateway.members().list.is_empty() {
            let faults = self::lock(&gateway.faults);
            let why = faults.values().next().map_or_else(String::new, |(_, why)| format!(": {why}"));
            bail!("{} has no bundle that can be used{why}", gateway.options.devices.display());
        }
        gateway.tell_orphans();
        Ok(gateway)
    }

    /// Warns of readings in the journal whose bundle is not in the folder: they wait for it.
    fn tell_orphans(&self) {
        let members = self.members();
        let is_orphan = |id: &DeviceId| members.list.iter().all(|member| member.id != *id);
        let devices = self.journal.devices().iter().filter(|id| is_orphan(id)).count();
        if devices > 0 {
            tracing::warn!(
                devices,
                "accepted readings of devices whose bundle is not in the folder wait for it"
            );
        }
    }

    /// Starts the threads.
    #[must_use]
    pub fn start(self: &Arc<Self>) -> Threads {
        let spawn = |work: fn(&Arc<Self>)| {
            let gateway = Arc::clone(self);
            thread::spawn(move || work(&gateway))
        };
        let drivers = thread::available_parallelism().map_or(1, usize::from).min(MOST_DRIVERS);
        let mut others = vec![spawn(Self::catch_up), spawn(Self::keep_house)];
        others.extend((0..drivers).map(|_| spawn(Self::drive_all)));
        others.extend((0..OPENERS).map(|_| spawn(Self::open_all)));
        others.extend((0..SENDERS).map(|_| spawn(Self::send_all)));
        Threads { commit: spawn(Self::commit), others }
    }

    pub(super) fn members(&self) -> Arc<Members> {
        Arc::clone(&self.members.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at the folder: opens devices whose bundle came or changed, and closes those whose bundle went.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn look(&self) -> Result<()> {
        let folder = &self.options.devices;
        let mut found =
            folder::bundles(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        let before = self.members();
        let mut faults = lock(&self.faults);
        let (mut list, mut left) = (Vec::new(), Vec::new());
        for member in &before.list {
            match found.remove(&member.bundle) {
                Some(stamp) if stamp == member.stamp => list.push(Arc::clone(member)),
                Some(stamp) => {
                    left.push(Arc::clone(member));
                    found.insert(member.bundle.clone(), stamp);
                }
                None => left.push(Arc::clone(member)),
            }
        }
        faults.retain(|path, (stamp, _)| found.get(path) == Some(stamp));
        let new: Vec<(PathBuf, Stamp)> =
            found.into_iter().filter(|(path, _)| !faults.contains_key(path)).collect();
        if new.is_empty() && left.is_empty() {
            return Ok(());
        }
        let mut came = Vec::new();
        for (path, stamp) in new {
            match Member::read(&path, stamp, &self.of_all) {
                Ok(member) if list.iter().any(|other| other.name == member.name) => {
                    let why = format!(
                        "device {} has another bundle in this folder: remove one of them",
                        member.name
                    );
                    faults.insert(path, (stamp, why));
                }
                Ok(member) => {
                    let member = Arc::new(member);
                    list.push(Arc::clone(&member));
                    came.push(member);
                }
                Err(error) => {
                    let reason = format!("{error:#}");
                    tracing::error!(path = %path.display(), reason, "a bundle cannot be used; the other devices work");
                    faults.insert(path, (stamp, reason));
                }
            }
        }
        let routes = Routes::new(list.iter().map(|member| (&*member.name, Arc::clone(&member.target))));
        *self.members.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Members { list, routes });
        drop(faults);
        for member in &left {
            self.leave(member);
        }
        lock(&self.leaving).extend(left);
        came.iter().for_each(|member| self.opens.push(member));
        Ok(())
    }

    /// Closes the windows of a device, once the rows that wait are taken.
    fn leave(&self, member: &Arc<Member>) {
        member.is_leaving.store(true, Ordering::Relaxed);
        self.drives.push(member);
    }

    /// Looks at the folder, and writes the state for `status`, from time to time.
    fn keep_house(self: &Arc<Self>) {
        let mut told = Instant::now();
        while !self.ending.load(Ordering::Relaxed) {
            thread::sleep(LOOK.min(Duration::from_millis(200)));
            if told.elapsed() < LOOK {
                continue;
            }
            if let Err(error) = self.look() {
                tracing::warn!(
                    reason = format!("{error:#}"),
                    "the bundles are not looked at; the devices go on"
                );
            }
            lock(&self.leaving).retain(|member| !matches!(*lock(&member.work), Work::Ended));
            told = Instant::now();
            self.tell(|snapshot| snapshot);
        }
    }

    /// Writes the state for `status`.
    fn tell(&self, change: impl FnOnce(Snapshot) -> Snapshot) {
        let (members, faults) = (self.members(), lock(&self.faults));
        let named = faults.iter().map(|(path, (_, fault))| (path.as_path(), fault.as_str()));
        let journal = (self.journal.bytes(), self.options.journal_limit);
        let snapshot = Snapshot::of(&members.list, named, journal, lock(&self.unclaimed).clone());
        drop(faults);
        if let Err(error) = change(snapshot).write(&self.own) {
            tracing::debug!(%error, "the state for `status` is not written");
        }
    }

    /// Ends the gateway, once no sender is answered any more: writes the last batch, closes all windows, and sends for a short
    /// time. The next run does the rest.
    pub fn finish(self: &Arc<Self>, threads: Threads) {
        lock(&self.staging).ended = true;
        self.staged.notify_all();
        let _ = threads.commit.join();
        wait_for(CATCHING_UP, || self.opens.is_idle() && self.is_caught_up());
        self.ending.store(true, Ordering::Relaxed);
        let all: Vec<Arc<Member>> =
            self.members().list.iter().cloned().chain(lock(&self.leaving).iter().cloned()).collect();
        all.iter().for_each(|member| self.leave(member));
        let is_closed = || all.iter().all(|member| !matches!(*lock(&member.work), Work::Open(_)));
        wait_for(CLOSING, is_closed);
        let is_sent = || {
            let has_sent =
                |member: &Arc<Member>| member.sending().is_none_or(|sending| sending.spool.first().is_none());
            all.iter().all(has_sent)
        };
        wait_for(SENDING, is_sent);
        [&self.drives, &self.opens, &self.sends].into_iter().for_each(Scheduler::end);
        self.wakes.notify_all();
        // A thread may wait for a cloud: the process ends without it.
        wait_for(Duration::from_secs(1), || threads.others.iter().all(JoinHandle::is_finished));
        if let Err(error) = self.journal.trim(true) {
            tracing::warn!(%error, "the journal of readings is not trimmed; the next start does it");
        }
        self.tell(Snapshot::ended);
    }

    /// Returns true if no open device has rows in the journal alone.
    fn is_caught_up(&self) -> bool {
        let is_behind = |member: &Arc<Member>| {
            let is_open = matches!(*lock(&member.work), Work::Open(_));
            is_open
                && !member.is_full.load(Ordering::Relaxed)
                && matches!(*lock(&member.rows_from), RowsFrom::Journal(_))
        };
        !self.members().list.iter().any(is_behind)
    }

    /// Notes fields that no channel takes, by measurement and name.
    pub(super) fn note_unclaimed(&self, measurement: &str, field: &str) {
        const MOST: usize = 50;
        let mut unclaimed = lock(&self.unclaimed);
        let name = super::member::shown(&format!("{measurement}.{field}")).to_string();
        if let Some(count) = bounded::entry(&mut unclaimed, name, MOST) {
            *count += 1;
        }
    }
}

/// Waits until something is so, at most for a time.
fn wait_for(time: Duration, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() && begin.elapsed() < time {
        thread::sleep(PAUSE);
    }
}
