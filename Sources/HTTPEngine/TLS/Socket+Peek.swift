#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Socket {
    /// Reads the next byte without consuming it.
    func peek(at byte: inout UInt8) -> Transfer {
        while true {
            let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK))
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            if errno != EINTR { return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .broken }
        }
    }
}
