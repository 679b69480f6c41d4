//! Logs of windows of sums for tests: their pages, and a cloud that gives them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_wire::{
    Digest, Envelope, Frontier, LogEntry, LogItem, LogPage, MaskName, StreamHead, StreamHeader, SumsStream,
    TakenReceipt, WindowGroup,
};

/// Windows of a page.
const PAGE: usize = 16_384;

pub(crate) fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&[7; 32])
}

fn sign(message: &[u8]) -> [u8; 64] {
    identity().sign(message)
}

/// A stream of windows of an hour with readings of 60 s.
pub(crate) fn stream() -> Arc<StreamHeader> {
    let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
    let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 23 };
    let stream = SumsStream {
        device: "cellar".into(),
        stream: "tank".into(),
        period: Period::of_seconds(60, 1).unwrap(),
        ticks: 60,
        channels: vec![level],
        rounded: true,
        parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
    };
    Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16])).unwrap())
}

/// Returns a window of an hour of a stream, with a body of zeros.
pub(crate) fn window(stream: &Arc<StreamHeader>, sequence: u64, start: i64, ticks: u32) -> Envelope {
    let described = WindowDescription {
        rounded: Some(vec![0]),
        ..WindowDescription::whole(stream.layout(), start, stream.period(), ticks)
    };
    described_window(stream, sequence, described)
}

/// Returns a window with this description.
pub(crate) fn described_window(
    stream: &Arc<StreamHeader>,
    sequence: u64,
    described: WindowDescription,
) -> Envelope {
    let bytes = stream.sums_form(0).unwrap().body_bytes(described.sent_ticks()) + 8;
    let name = MaskName { salt: [3; 12], sequence };
    // A group signs its windows anew.
    Envelope::sign_sums(stream, sequence, name, described, &vec![0; bytes], |_| [1; 64]).unwrap()
}

/// Returns windows of following hours, in groups of this many, or alone with 1. With receipts the first of each group names the
/// window before it.
pub(crate) fn windows(count: u64, grouped: u64, receipts: bool) -> Vec<Envelope> {
    let (stream, mut all) = (stream(), Vec::with_capacity(count as usize));
    let mut at = 0;
    while at < count {
        let group = at..(at + grouped).min(count);
        let mut windows: Vec<Envelope> = group
            .clone()
            .map(|number| window(&stream, number, 1_700_000_400_000 + 3_600_000 * number.cast_signed(), 60))
            .collect();
        if let Some(before) = at.checked_sub(1).filter(|_| receipts) {
            let receipt = TakenReceipt { sequence: before, position: before };
            windows[0] = windows[0].clone().after_receipt(receipt, sign).unwrap();
        }
        match windows.len() {
            1 => {
                let alone = windows.remove(0);
                let receipt = alone.signed_header().taken_receipt();
                // With a signature of the device.
                all.push(match receipt {
                    Some(_) => alone,
                    None => signed(&stream, &alone),
                });
            }
            _ => all.extend_from_slice(WindowGroup::sign(windows, sign).unwrap().windows()),
        }
        at = group.end;
    }
    all
}

/// Returns a window with the device's signature.
pub(crate) fn signed(stream: &Arc<StreamHeader>, window: &Envelope) -> Envelope {
    let described = window.signed_header().description().unwrap();
    let (sequence, mask) = (window.header().sequence, window.mask().unwrap());
    let bytes = stream.sums_form(0).unwrap().body_bytes(described.sent_ticks()) + 8;
    Envelope::sign_sums(stream, sequence, mask, described, &vec![0; bytes], sign).unwrap()
}

/// Returns windows as they stand in a log, with ids of the cloud.
pub(crate) fn entries(windows: &[Envelope]) -> Vec<LogEntry> {
    let entry = |window: &Envelope| {
        let signed = window.signed_header().clone();
        let leaf = signed.leaf();
        let mut id = [9; 16];
        id[..8].copy_from_slice(&signed.header().sequence.to_le_bytes());
        let bytes = window.member_bytes().unwrap_or(window.message_bytes()) as u64;
        LogEntry { sequence: signed.header().sequence, leaf, id: Some(id), bytes, signed: Some(signed) }
    };
    windows.iter().map(entry).collect()
}

/// Returns the items of a page with these windows, and their leaves.
pub(crate) fn items(windows: &[Envelope]) -> (Vec<LogItem>, Vec<Digest>) {
    let page = LogPage::of(Vec::new(), entries(windows));
    let leaves = page.items.iter().flat_map(LogItem::leaves).collect();
    (page.items, leaves)
}

/// Serves the log of some windows on this machine, and returns the cloud's address and the bytes of all pages.
pub(crate) fn serve(windows: &[Envelope]) -> (String, usize) {
    let entries = entries(windows);
    let (cloud, tree) =
        (SigningIdentity::from_bytes(&[8; 32]), Frontier::of(entries.iter().map(|entry| entry.leaf)));
    let head =
        StreamHead::sign("cellar", "tank", tree.size(), tree.root(), 0, cloud.verifying_key(), |message| {
            cloud.sign(message)
        });
    let head = head.unwrap().write().unwrap();
    let mut pages: Vec<Vec<u8>> =
        entries.chunks(PAGE).map(|page| LogPage::of(head.clone(), page.iter().cloned()).write()).collect();
    pages.push(LogPage::of(head, <[LogEntry; 0]>::default()).write());
    let bytes = pages.iter().map(Vec::len).sum();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &pages);
        }
    });
    (address, bytes)
}

fn answer(mut stream: TcpStream, pages: &[Vec<u8>]) {
    let (mut reader, mut line) = (BufReader::new(stream.try_clone().unwrap()), String::new());
    reader.read_line(&mut line).unwrap();
    let from =
        line.split("from=").nth(1).and_then(|rest| rest.split([' ', '&']).next()?.parse::<usize>().ok());
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let page = &pages[from.unwrap_or_default().div_ceil(PAGE).min(pages.len() - 1)];
    let head = format!("HTTP/1.1 200 x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", page.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(page));
}
