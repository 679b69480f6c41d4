//! Sockets with and without TLS, whose reads and writes have time limits.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::Options;

/// A connection to a broker.
pub(crate) enum Socket {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Socket {
    /// Connects, within the options' limit. Each address of the name is tried.
    pub(crate) fn connect(options: &Options) -> io::Result<Self> {
        let broker = &options.broker;
        let until = Instant::now() + options.limit;
        let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
        for address in (broker.host.as_str(), broker.port).to_socket_addrs()? {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => return Self::over(stream, options),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn over(stream: TcpStream, options: &Options) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(options.limit))?;
        stream.set_write_timeout(Some(options.limit))?;
        if !options.broker.tls {
            return Ok(Self::Plain(stream));
        }
        let other = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
        let config = options.trust.client_config().map_err(|error| other(&error))?;
        let name = ServerName::try_from(options.broker.host.clone()).map_err(|error| other(&error))?;
        let tls = ClientConnection::new(Arc::new(config), name).map_err(|error| other(&error))?;
        let mut stream = StreamOwned::new(tls, stream);
        // The certificate is looked at before anything is sent.
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self::Tls(Box::new(stream)))
    }

    /// Reads at most one buffer; `None` if nothing came within the limit, an error at the end of the stream.
    pub(crate) fn read(&mut self, buffer: &mut [u8], limit: Duration) -> io::Result<Option<usize>> {
        // A limit of zero would stand for none.
        let limit = limit.max(Duration::from_millis(1));
        let read = match self {
            Self::Plain(stream) => stream.set_read_timeout(Some(limit)).and_then(|()| stream.read(buffer)),
            Self::Tls(stream) => stream.sock.set_read_timeout(Some(limit)).and_then(|()| stream.read(buffer)),
        };
        match read {
            Ok(0) => Err(io::Error::new(ErrorKind::UnexpectedEof, "the broker has closed the connection")),
            Ok(count) => Ok(Some(count)),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes all bytes, within the limit with which the socket was connected.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    /// Ends the connection.
    pub(crate) fn close(&mut self) {
        let stream = match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => {
                stream.conn.send_close_notify();
                let _ = stream.flush();
                &mut stream.sock
            }
        };
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}
