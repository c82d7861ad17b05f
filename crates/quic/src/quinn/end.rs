//! One end of a connection: an endpoint, at most one connection, and an application.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use bytes::BytesMut;
use longhaul_engine::stack::{Datagram, EcnCodepoint};

use super::application::{Reader, Writer};
use super::dialect::{handle, path_state, poll_transmit, proto};
use crate::connection::{End, PathState};
use proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, Event, StreamEvent,
};

/// Size in bytes of an allocation for received datagrams, small enough for a processor's
/// first-level cache. The allocation is reused when no datagram in it waits to be read.
const ARENA: usize = 1 << 14;

/// The application at one end.
#[derive(Debug)]
pub(super) enum Application {
    Sends(Writer),
    Receives(Reader),
}

/// One end of a connection of the stack.
pub(super) struct StackEnd {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Configuration for opening the connection; `None` for a server.
    client: Option<ClientConfig>,
    peer: SocketAddr,
    application: Application,
    /// Datagrams that the endpoint sends outside a connection, such as a refusal.
    responses: VecDeque<Vec<u8>>,
    arena: BytesMut,
    /// Time of the acknowledgement of the whole transfer; `None` before.
    finished: Option<Instant>,
    /// Reason why the connection was lost or not opened, until it is taken; `None` otherwise.
    lost: Option<String>,
}

impl StackEnd {
    /// Creates one end of a connection. `client` is the client's configuration; `None` for the server.
    pub(super) fn new(
        endpoint: Endpoint,
        peer: SocketAddr,
        client: Option<ClientConfig>,
        application: Application,
    ) -> Self {
        Self {
            endpoint,
            connection: None,
            client,
            peer,
            application,
            responses: VecDeque::new(),
            arena: BytesMut::with_capacity(ARENA),
            finished: None,
            lost: None,
        }
    }

    fn respond(&mut self, is_given: bool, response: Vec<u8>) {
        if is_given {
            self.responses.push_back(response);
        }
    }

    /// Passes the connection's events to its endpoint and its application. Must be called after a received datagram or
    /// a timeout; sending causes no events (documentation of `Connection::poll`).
    fn process_events(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match (event, &mut self.application) {
                (Event::Connected, Application::Sends(writer)) => writer.open(connection),
                (Event::Stream(StreamEvent::Writable { .. }), Application::Sends(writer)) => {
                    writer.write(connection)
                }
                (Event::Stream(StreamEvent::Finished { .. }), Application::Sends(_)) => {
                    self.finished = Some(now);
                }
                (Event::Stream(StreamEvent::Opened { .. }), Application::Receives(reader)) => {
                    reader.accept(connection);
                }
                (Event::Stream(StreamEvent::Readable { id }), Application::Receives(reader)) => {
                    reader.read(connection, id)
                }
                (Event::ConnectionLost { reason }, _) => self.lost = Some(reason.to_string()),
                _ => {}
            }
        }
    }
}

impl End for StackEnd {
    fn connect(&mut self, now: Instant) {
        let Some(config) = self.client.take() else {
            return;
        };
        match self.endpoint.connect(now, config, self.peer, "server") {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.lost = Some(error.to_string()),
        }
    }

    fn stop(&mut self) {
        let Application::Sends(writer) = &mut self.application else {
            return;
        };
        match &mut self.connection {
            Some((_, connection)) => writer.finish(connection),
            None => writer.finish_early(),
        }
    }

    fn receive(&mut self, now: Instant, ecn: EcnCodepoint, datagram: Datagram<'_>) {
        let Datagram { bytes, zeros } = datagram;
        self.arena.reserve(bytes.len() + zeros);
        self.arena.extend_from_slice(bytes);
        self.arena.resize(bytes.len() + zeros, 0);
        let bytes = self.arena.split();
        let mut response = Vec::new();
        let (endpoint, ecn) = (&mut self.endpoint, from_engine(ecn));
        let event = handle(endpoint, now, self.peer, ecn, bytes, &mut response);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut response, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => {
                        self.lost = Some(error.cause.to_string());
                        self.respond(error.response.is_some(), response);
                    }
                }
            }
            Some(DatagramEvent::Response(_)) => self.respond(true, response),
            None => {}
        }
        self.process_events(now);
    }

    fn expire(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.process_events(now);
    }

    fn poll(&mut self, now: Instant, datagram: &mut Vec<u8>) -> Option<EcnCodepoint> {
        if let Some(response) = self.responses.pop_front() {
            *datagram = response;
            return Some(EcnCodepoint::NotEct);
        }
        let (_, connection) = self.connection.as_mut()?;
        let transmit = poll_transmit(connection, now, datagram)?;
        Some(to_engine(transmit.ecn))
    }

    fn deadline(&mut self) -> Option<Instant> {
        let (_, connection) = self.connection.as_mut()?;
        connection.poll_timeout()
    }

    fn path(&self) -> Option<PathState> {
        let (_, connection) = self.connection.as_ref()?;
        path_state(connection)
    }

    fn bytes_read(&self) -> u64 {
        match &self.application {
            Application::Receives(reader) => reader.bytes(),
            Application::Sends(_) => 0,
        }
    }

    fn finished(&self) -> Option<Instant> {
        self.finished
    }

    fn take_loss(&mut self) -> Option<String> {
        self.lost.take()
    }
}

impl std::fmt::Debug for StackEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StackEnd")
            .field("application", &self.application)
            .finish_non_exhaustive()
    }
}

fn from_engine(ecn: EcnCodepoint) -> Option<proto::EcnCodepoint> {
    match ecn {
        EcnCodepoint::NotEct => None,
        EcnCodepoint::Ect0 => Some(proto::EcnCodepoint::Ect0),
        EcnCodepoint::Ect1 => Some(proto::EcnCodepoint::Ect1),
        EcnCodepoint::Ce => Some(proto::EcnCodepoint::Ce),
    }
}

fn to_engine(ecn: Option<proto::EcnCodepoint>) -> EcnCodepoint {
    match ecn {
        None => EcnCodepoint::NotEct,
        Some(proto::EcnCodepoint::Ect0) => EcnCodepoint::Ect0,
        Some(proto::EcnCodepoint::Ect1) => EcnCodepoint::Ect1,
        Some(proto::EcnCodepoint::Ce) => EcnCodepoint::Ce,
    }
}
