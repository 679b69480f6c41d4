//! The terminal: looks in one thread, keys in the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use sotto_owner::Plant;

use super::columns::Paint;
use super::draw::draw;
use super::look::{Look, now};
use super::state::{State, Then};

/// The longest time for which a key waits for the screen.
const TICK: Duration = Duration::from_millis(100);

/// Ticks after which ages are drawn again.
const TICKS: u32 = 10;

/// Shows a plant until a key or a signal ends it. The terminal is as it was before, also after a panic or an error.
pub(super) fn run(plant: Plant, mut state: State) -> anyhow::Result<()> {
    let ended = Arc::new(AtomicBool::new(false));
    let by_signal = Arc::clone(&ended);
    ctrlc::set_handler(move || by_signal.store(true, Ordering::Relaxed))?;
    // Restores the terminal in a panic, too.
    let mut terminal =
        ratatui::try_init().context("the terminal cannot be used: `sotto top --once` needs none")?;
    let shown = shown(&mut terminal, plant, &mut state, &ended);
    let restored = ratatui::try_restore();
    shown?;
    restored.context("the terminal cannot be put back: `reset` does")
}

fn shown(
    terminal: &mut DefaultTerminal,
    plant: Plant,
    state: &mut State,
    ended: &AtomicBool,
) -> anyhow::Result<()> {
    let (paint, every) = (Paint::of_environment(), state.every);
    let ((looks, latest), (now_please, asked)) = (mpsc::channel(), mpsc::channel());
    thread::Builder::new().name("look".to_owned()).spawn(move || look(plant, every, &looks, &asked))?;
    let mut ticks = TICKS;
    while !ended.load(Ordering::Relaxed) {
        loop {
            match latest.try_recv() {
                Ok(look) => {
                    state.take(look);
                    ticks = TICKS;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => bail!("the thread that asks the cloud has ended"),
            }
        }
        if ticks >= TICKS {
            terminal.draw(|frame| draw(frame, state, now(), paint))?;
            ticks = 0;
        }
        ticks += 1;
        if !event::poll(TICK)? {
            continue;
        }
        ticks = TICKS;
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match state.key(key.code, key.modifiers) {
            Then::GoOn => {}
            // A look that is under way is followed by another one.
            Then::Look => drop(now_please.send(())),
            Then::End => break,
        }
    }
    Ok(())
}

/// Looks at the plant again and again, until nobody asks any more.
fn look(mut plant: Plant, every: Duration, looks: &Sender<Look>, asked: &Receiver<()>) {
    loop {
        let mut look = Look::at(&plant);
        // Settings may have changed. Wrong ones are told, and the earlier ones go on to count.
        match plant.reopened() {
            Ok(reopened) => plant = reopened,
            Err(error) => look.devices = Err(error.into()),
        }
        if looks.send(look).is_err() {
            return;
        }
        match asked.recv_timeout(every) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
