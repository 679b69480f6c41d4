//! The work on devices: takes their rows, closes their windows, sends their messages. A few threads share it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::devices::{Gateway, SharedCloud};
use super::member::{Member, RowsFrom, Work, lock};
use crate::arguments::{ReadArguments, RunArguments};
use crate::bundle::Bundle;
use crate::device::{Device, Step};
use crate::output::tell;
use crate::position::PATIENCE;
use crate::send::{Next, Sending, UNPINNED};
use crate::source::now;
use crate::upload::Cloud;

/// Rows of a device that are taken before it is another one's turn.
const ROWS: u64 = 4096;
/// Windows likewise.
const WINDOWS: u32 = 16;
/// Messages likewise.
const MESSAGES: u32 = 32;
/// Wait of a device whose spool is full.
const FULL: Duration = Duration::from_millis(500);
/// Wait of a device that does not work.
const FAULT: Duration = Duration::from_secs(15);

impl Gateway {
    /// Opens devices until the end: the work of a thread.
    pub(super) fn open_all(self: &Arc<Self>) {
        while let Some(member) = self.opens.next() {
            self.open_member(&member);
            self.opens.done(&member);
        }
    }

    fn open_member(&self, member: &Arc<Member>) {
        if member.is_leaving.load(Ordering::Relaxed) || !matches!(*lock(&member.work), Work::Closed) {
            return;
        }
        match self.device(member) {
            // It left meanwhile: its rows stay in the journal.
            Ok(_) if member.is_leaving.load(Ordering::Relaxed) => {}
            Ok((device, sending)) => {
                member.note_fault(None);
                *lock(&member.sending) = Some(sending);
                member.queue.clear();
                *lock(&member.work) = Work::Open(Box::new(device));
                self.wake();
                self.drives.push(member);
                self.sends.push(member);
            }
            Err(error) => {
                member.note_fault(Some(format!("{error:#}")));
                self.opens.push_after(member, FAULT);
            }
        }
    }

    fn device(&self, member: &Member) -> Result<(Device, Sending)> {
        let bundle = Bundle::read(&member.bundle)?;
        let mut device = self.options.device.clone();
        (device.bundle, device.spool) = (member.bundle.clone(), None);
        let shared = self.cloud(&bundle, &device.cloud)?;
        let sending = Sending::open_for(shared.cloud, &device, &bundle, self.options.late)?;
        let read = ReadArguments {
            phase: self.options.phase,
            allow_future: self.options.allow_future,
            ..ReadArguments::default()
        };
        let arguments = RunArguments {
            device,
            read,
            once: false,
            correct: false,
            allow_missing: false,
            late: self.options.late,
            fresh: self.options.fresh,
            ticks: None,
            json: false,
            report: None,
            clear_log: None,
            exit_with_stdin: false,
            gateway: crate::arguments::GatewayArguments::default(),
        };
        let source =
            Box::new(super::source::Pushed::new(Arc::clone(&member.target.channels), member.queue.clone()));
        // The readings are in the journal: all new spools together wait once.
        let patience = shared.patient_until.saturating_duration_since(Instant::now());
        let opened =
            Device::open_pushed(arguments, &bundle, sending.clone(), source, patience, &member.closing)?;
        Ok((opened, sending))
    }

    /// Returns the connections to the cloud of a bundle, which devices of the same cloud share.
    fn cloud(&self, bundle: &Bundle, address: &Option<String>) -> Result<SharedCloud> {
        let address = address.as_ref().unwrap_or(&bundle.cloud);
        let authority = bundle.authority().filter(|_| self.options.device.ca.is_none());
        let key = (address.clone(), authority.map(<[u8]>::to_vec));
        let mut clouds = lock(&self.clouds);
        if let Some(shared) = clouds.get(&key) {
            return Ok(shared.clone());
        }
        let cloud = Cloud::new(address, bundle.trust(self.options.device.ca.as_deref())?)?;
        let shared = SharedCloud { cloud, patient_until: Instant::now() + PATIENCE };
        clouds.insert(key, shared.clone());
        let arguments = &self.options.device;
        if crate::pinned::Pinned::new(&arguments.cloud_key, &bundle.profile).is_empty() {
            tell(UNPINNED);
        }
        Ok(shared)
    }

    /// Drives devices until the end: the work of a thread.
    pub(super) fn drive_all(self: &Arc<Self>) {
        while let Some(member) = self.drives.next() {
            self.drive(&member);
            self.drives.done(&member);
        }
    }

    fn drive(&self, member: &Arc<Member>) {
        let mut work = lock(&member.work);
        let Work::Open(device) = &mut *work else {
            if member.is_leaving.load(Ordering::Relaxed) {
                *work = Work::Ended;
            }
            return;
        };
        for _ in 0..WINDOWS {
            match device.step(ROWS) {
                Ok(Step::Spooled) => {
                    lock(&member.counts).windows += 1;
                    self.sends.push(member);
                }
                Ok(Step::Waiting(i64::MIN)) => break,
                Ok(Step::Waiting(due)) => {
                    member.is_full.store(false, Ordering::Relaxed);
                    self.settle(member, device);
                    if member.is_leaving.load(Ordering::Relaxed) && member.queue.is_empty() {
                        member.closing.ask();
                        continue;
                    }
                    if matches!(*lock(&member.rows_from), RowsFrom::Journal(_)) {
                        self.wake();
                    }
                    let wait = due.saturating_sub(now()).max(1);
                    self.drives.push_after(member, Duration::from_millis(wait.unsigned_abs()));
                    return;
                }
                Ok(Step::NoRoom) => {
                    // Senders are told to keep further readings; those that were accepted wait in the journal.
                    member.is_full.store(true, Ordering::Relaxed);
                    if member.is_leaving.load(Ordering::Relaxed) {
                        *work = Work::Ended;
                        return;
                    }
                    return self.drives.push_after(member, FULL);
                }
                Ok(Step::Ended) => {
                    self.settle(member, device);
                    *work = Work::Ended;
                    if !self.ending.load(Ordering::Relaxed) {
                        // Another bundle of the device may use the spool; or its bundle went, and the spool stays.
                        *lock(&member.sending) = None;
                    }
                    return;
                }
                Err(error) => {
                    member.note_fault(Some(format!("{error:#}")));
                    *work =
                        if member.is_leaving.load(Ordering::Relaxed) { Work::Ended } else { Work::Closed };
                    // The readings of its windows are read from the journal again.
                    self.read_again(member);
                    return self.opens.push_after(member, FAULT);
                }
            }
        }
        drop(work);
        self.drives.push(member);
    }

    /// Notes which batches a device needs no more.
    fn settle(&self, member: &Member, device: &Device) {
        let before = device.settled_before();
        if member.settled.swap(before, Ordering::Relaxed) != before {
            self.journal.settle(member.id, before);
        }
    }

    /// Lets a device read its rows from the journal again: its windows were lost.
    fn read_again(&self, member: &Member) {
        let mut rows_from = lock(&member.rows_from);
        member.readings_again.fetch_add(1, Ordering::Relaxed);
        member.queue.clear();
        *rows_from = RowsFrom::Journal(member.settled.load(Ordering::Relaxed));
        *lock(&member.sending) = None;
    }

    /// Sends messages until the end: the work of a thread.
    pub(super) fn send_all(self: &Arc<Self>) {
        while let Some(member) = self.sends.next() {
            if let Err(error) = self.send(&member) {
                member.note_fault(Some(error.to_string()));
                self.sends.push_after(&member, FAULT);
            }
            self.sends.done(&member);
        }
    }

    fn send(&self, member: &Arc<Member>) -> Result<(), crate::spool::SpoolError> {
        let Some(sending) = member.sending() else { return Ok(()) };
        let mut course = lock(&member.course);
        course.follow_orders(&sending, &self.stop);
        for _ in 0..MESSAGES {
            let Some(entry) = sending.spool.first() else { return Ok(()) };
            match sending.send_next(&mut course, &entry, &self.stop)? {
                Next::Sent => {}
                Next::After(wait) => {
                    self.sends.push_after(member, wait);
                    return Ok(());
                }
                Next::Never => return Ok(()),
            }
        }
        self.sends.push(member);
        Ok(())
    }
}
