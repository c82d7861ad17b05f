//! One end of a connection: an endpoint, at most one connection, and an application.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use bytes::BytesMut;
use longhaul_engine::stack::EcnCodepoint;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, Event, StreamEvent,
};

use super::application::{Reader, Writer};

/// Received datagrams that share one allocation.
const ARENA: usize = 1 << 16;

/// What an application does.
#[derive(Debug)]
pub(super) enum Application {
    Sends(Writer),
    Receives(Reader),
}

/// One end.
pub(super) struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    pub(super) application: Application,
    /// Datagrams that the endpoint sends without a connection, such as a refusal.
    responses: VecDeque<Vec<u8>>,
    arena: BytesMut,
    /// When the peer has acknowledged the whole transfer.
    pub(super) finished: Option<Instant>,
    /// Why there is no connection, if there was to be one; to be taken once.
    pub(super) lost: Option<String>,
}

impl End {
    pub(super) fn new(endpoint: Endpoint, peer: SocketAddr, application: Application) -> Self {
        Self {
            endpoint,
            connection: None,
            peer,
            application,
            responses: VecDeque::new(),
            arena: BytesMut::with_capacity(ARENA),
            finished: None,
            lost: None,
        }
    }

    /// Its connection, once there is one.
    pub(super) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref().map(|(_, connection)| connection)
    }

    /// Opens a connection.
    pub(super) fn connect(&mut self, now: Instant, config: ClientConfig) {
        match self.endpoint.connect(now, config, self.peer, "server") {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.lost = Some(error.to_string()),
        }
    }

    /// The application has nothing more to send.
    pub(super) fn stop(&mut self) {
        let Application::Sends(writer) = &mut self.application else {
            return;
        };
        match &mut self.connection {
            Some((_, connection)) => writer.finish(connection),
            None => writer.finish_early(),
        }
    }

    /// A datagram arrives.
    pub(super) fn receive(&mut self, now: Instant, ecn: EcnCodepoint, datagram: &[u8]) {
        self.arena.extend_from_slice(datagram);
        let bytes = self.arena.split();
        let mut response = Vec::new();
        let event =
            self.endpoint
                .handle(now, self.peer, None, from_engine(ecn), bytes, &mut response);
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

    fn respond(&mut self, is_given: bool, response: Vec<u8>) {
        if is_given {
            self.responses.push_back(response);
        }
    }

    /// A deadline of the stack has passed.
    pub(super) fn expire(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.process_events(now);
    }

    /// Writes the next datagram to `datagram`.
    pub(super) fn poll(&mut self, now: Instant, datagram: &mut Vec<u8>) -> Option<EcnCodepoint> {
        if let Some(response) = self.responses.pop_front() {
            *datagram = response;
            return Some(EcnCodepoint::NotEct);
        }
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(now, 1, datagram);
        if let Some(transmit) = transmit {
            return Some(to_engine(transmit.ecn));
        }
        self.process_events(now);
        None
    }

    /// When it is to be called next.
    pub(super) fn deadline(&mut self) -> Option<Instant> {
        let (_, connection) = self.connection.as_mut()?;
        connection.poll_timeout()
    }

    /// Passes on what the connection has for its endpoint and its application.
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

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("End")
            .field("application", &self.application)
            .finish_non_exhaustive()
    }
}

fn from_engine(ecn: EcnCodepoint) -> Option<quinn_proto::EcnCodepoint> {
    match ecn {
        EcnCodepoint::NotEct => None,
        EcnCodepoint::Ect0 => Some(quinn_proto::EcnCodepoint::Ect0),
        EcnCodepoint::Ect1 => Some(quinn_proto::EcnCodepoint::Ect1),
        EcnCodepoint::Ce => Some(quinn_proto::EcnCodepoint::Ce),
    }
}

fn to_engine(ecn: Option<quinn_proto::EcnCodepoint>) -> EcnCodepoint {
    match ecn {
        None => EcnCodepoint::NotEct,
        Some(quinn_proto::EcnCodepoint::Ect0) => EcnCodepoint::Ect0,
        Some(quinn_proto::EcnCodepoint::Ect1) => EcnCodepoint::Ect1,
        Some(quinn_proto::EcnCodepoint::Ce) => EcnCodepoint::Ce,
    }
}
