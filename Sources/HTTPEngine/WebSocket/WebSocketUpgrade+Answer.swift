internal import COpenSSL
internal import HTTPTypes
internal import Wire

extension WebSocketHandshake {
    /// `Sec-WebSocket-Accept`, which proves that the handshake was understood. RFC 6455 section 4.2.2.
    var acceptValue: String {
        // An OpenSSL call may leave errors behind that a TLS connection on this thread would take for its own.
        defer { ERR_clear_error() }
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        // 28 characters and a NUL.
        var encoded = [UInt8](repeating: 0, count: 29)
        let count = EVP_EncodeBlock(&encoded, digest, Int32(digest.count))
        return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
    }
}

extension WebSocketUpgrade {
    /// The fields of the answer that accepts the handshake, but for `Connection`, which the encoder adds.
    ///
    /// What a handler says about the handshake itself is replaced by what is true. A subprotocol that the client does
    /// not offer is left out, since the client would have to fail the connection. RFC 6455 section 4.1.
    func answerFields(with handlerFields: HTTPFields = [:]) -> HTTPFields {
        var fields = handlerFields
        // No extension is known, so none can be agreed upon; a version is named in refusals only.
        fields[.secWebSocketExtensions] = nil
        fields[.secWebSocketVersion] = nil
        fields[.upgrade] = "websocket"
        fields[.secWebSocketAccept] = handshake.acceptValue
        fields[.secWebSocketProtocol] = offeredSubprotocol
        return fields
    }

    /// Compared by bytes, as the client does.
    private var offeredSubprotocol: String? {
        guard let subprotocol else { return nil }
        return handshake.subprotocols.first { $0.utf8.elementsEqual(subprotocol.utf8) }
    }
}
