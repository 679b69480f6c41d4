//! Sources around other ones.

use sotto_pack::{Channel, LeftOut};

use super::{FileFacts, Row, Source, SourceError};

/// A source around another one, which answers everything that this one does not answer itself.
pub(crate) trait Around: Send {
    fn inner(&self) -> &dyn Source;

    fn inner_mut(&mut self) -> &mut dyn Source;

    fn next_row(&mut self) -> Result<Row, SourceError>;

    fn channels(&self) -> &[Channel] {
        self.inner().channels()
    }

    fn take_left_out(&mut self) -> LeftOut {
        self.inner_mut().take_left_out()
    }

    fn facts(&self) -> Vec<FileFacts> {
        self.inner().facts()
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        self.inner_mut().restart()
    }
}

impl<S: Around> Source for S {
    fn channels(&self) -> &[Channel] {
        Around::channels(self)
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        Around::next_row(self)
    }

    fn take_left_out(&mut self) -> LeftOut {
        Around::take_left_out(self)
    }

    fn paced(&self) -> bool {
        self.inner().paced()
    }

    fn line(&self) -> Option<u64> {
        self.inner().line()
    }

    fn file(&self) -> usize {
        self.inner().file()
    }

    fn facts(&self) -> Vec<FileFacts> {
        Around::facts(self)
    }

    fn mark(&self) -> u64 {
        self.inner().mark()
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        Around::restart(self)
    }
}
