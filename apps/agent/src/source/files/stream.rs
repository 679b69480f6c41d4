//! Reads pipes and devices in a thread, because a blocking read cannot be cancelled.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use zeroize::Zeroizing;

/// Maximum bytes of one read.
pub(super) const CHUNK: usize = 32 << 10;
/// Maximum number of chunks in the queue.
const WAITING: usize = 4;

/// Bytes of one read.
pub(super) type Chunk = Zeroizing<Vec<u8>>;

/// Reads once, and repeats the read after a signal.
pub(super) fn retried(from: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(room) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Returns the chunks that a new thread reads. The thread ends with its input, or with the process.
pub(super) fn stream<R: Read>(
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> Receiver<io::Result<Chunk>> {
    let (sender, receiver) = sync_channel(WAITING);
    thread::spawn(move || {
        let mut from = match open() {
            Ok(from) => from,
            Err(error) => return drop(sender.send(Err(error))),
        };
        loop {
            let mut chunk = Zeroizing::new(vec![0; CHUNK]);
            let read = retried(&mut from, &mut chunk);
            let read = read.map(|count| {
                chunk.truncate(count);
                chunk
            });
            if matches!(&read, Ok(chunk) if chunk.is_empty()) || sender.send(read).is_err() {
                return;
            }
        }
    });
    receiver
}
