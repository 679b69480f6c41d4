//! Measures the instructions that several generators take for a mask of 20 KiB, on this board.
#![no_std]
#![no_main]

mod board;

use aes::Aes128;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use chacha20::{ChaCha8, ChaCha12, ChaCha20};
use ctr::Ctr32LE;
use panic_halt as _;
use semihosting::io::{self, Write};
use semihosting::process;

/// Bytes of a mask at n = 4096 with a prime of 40 bits.
const MASK: usize = 4096 * 5;
const CHUNK: usize = 512;

fn run() -> io::Result<()> {
    let mut out = io::stdout()?;
    let reference = board::reference();
    let mut line = |name: &str, ticks: u32| {
        let instructions = u64::from(ticks) * u64::from(board::REFERENCE) / u64::from(reference);
        writeln!(out, "{name} {instructions}")
    };
    line("ChaCha8", timed(&mut ChaCha8::new(&[1; 32].into(), &[2; 12].into())))?;
    line("ChaCha12", timed(&mut ChaCha12::new(&[1; 32].into(), &[2; 12].into())))?;
    line("ChaCha20", timed(&mut ChaCha20::new(&[1; 32].into(), &[2; 12].into())))?;
    line("AES-128-CTR", timed(&mut Ctr32LE::<Aes128>::new(&[1; 16].into(), &[2; 16].into())))
}

#[inline(never)]
fn timed(stream: &mut impl StreamCipher) -> u32 {
    let mut bytes = [0; CHUNK];
    let all = || {
        for _ in 0..MASK / CHUNK {
            stream.apply_keystream(&mut bytes);
        }
    };
    board::timed(all).0
}

fn finish() -> ! {
    process::exit(i32::from(run().is_err()))
}
