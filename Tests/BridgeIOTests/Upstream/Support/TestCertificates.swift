import Foundation
import Testing

/// Certificates for TLS tests, made by the `openssl` command in a folder of their own.
struct TestCertificates: Sendable {
    /// Made once for all tests of a run.
    static let shared = Result { try TestCertificates() }

    private let folder: URL

    var authority: String { path("authority.pem") }

    /// The settings of a server that presents the certificate `name`.
    func server(_ name: String) -> TLSServer.Settings {
        TLSServer.Settings(certificate: path("\(name).pem"), key: path("\(name).key"))
    }

    func path(_ file: String) -> String { folder.appending(path: file).path }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "wsbridge-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try selfSigned("authority", subject: "Test authority")
        try selfSigned("self-signed", subject: "localhost", names: "DNS:localhost")
        try signed("good", names: "DNS:localhost,DNS:upstream.test")
        try signed("address", names: "IP:127.0.0.1")
        try signed("other", names: "DNS:other.test")
        try signed("wildcard", names: "DNS:*.upstream.test")
        try signed("partial", names: "DNS:loc*.upstream.test")
        try signed("expired", names: "DNS:localhost", days: "-1")
        try signed("client", names: "DNS:client.test")
    }

    private func selfSigned(_ name: String, subject: String, names: String? = nil) throws {
        try openSSL(
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
                + ["-subj", "/CN=\(subject)", "-keyout", path("\(name).key"), "-out", path("\(name).pem")]
                + (names.map { ["-addext", "subjectAltName=\($0)"] } ?? [])
        )
    }

    private func signed(_ name: String, names: String, days: String = "2") throws {
        try openSSL(
            ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)"]
                + [
                    "-addext", "subjectAltName=\(names)", "-keyout", path("\(name).key"), "-out",
                    path("\(name).csr"),
                ]
        )
        try openSSL(
            ["x509", "-req", "-in", path("\(name).csr"), "-CA", authority, "-CAkey", path("authority.key")]
                + ["-days", days, "-copy_extensions", "copy", "-out", path("\(name).pem")]
        )
    }

    private func openSSL(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let output = Pipe()
        process.standardError = output
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let isDone = process.terminationStatus == 0
        try #require(isDone, "openssl \(arguments[0]): \(String(decoding: text, as: UTF8.self))")
    }
}
