package import BridgeCore

/// The files of the page, and where they were found.
package nonisolated struct FoundPage {
    package var files: PublicFiles
    /// A path, or `built-in`.
    package var place: String
    /// Places that were passed over though there is something.
    package var complaints: [String]

    /// Takes the first place that has a front page and can be read in full.
    ///
    /// It reads files, so it is for the start. Throws what was wrong with each place (exit code 66).
    package init(_ directory: PublicDirectory, executableFolder: String?) throws(StartError) {
        var complaints: [String] = []
        var missing: [String] = []
        for place in directory.places(executableFolder: executableFolder) {
            do throws(FolderReader.Failure) {
                let files = try FoundPage.files(at: place)
                guard files.hasFront else {
                    complaints.append("\(place.name) has no \(PublicFiles.front)")
                    continue
                }
                self.files = files
                self.place = place.name
                self.complaints = complaints
                return
            } catch  where error.isMissing {
                missing.append("\(error.path) does not exist")
            } catch {
                complaints.append("\(error.path): \(error.error)")
            }
        }
        let reasons = (complaints + missing).joined(separator: "; ")
        throw StartError([
            StartError.Complaint(
                "publicDirectory",
                "there is no page: \(reasons)",
                .unreadableFile
            )
        ])
    }

    private static func files(at place: PublicDirectory.Place) throws(FolderReader.Failure) -> PublicFiles {
        let builtIn: PublicFiles
        do throws(PublicFiles.Overflow) {
            builtIn = try .builtIn
        } catch {
            throw FolderReader.Failure(path: PublicDirectory.Place.builtIn.name, error: error.rawValue)
        }
        guard case .directory(let path) = place else { return builtIn }
        var files = try FolderReader(path).files
        // Whatever page there is, the description is that of this very program.
        if let description = builtIn[[PublicFiles.description]] {
            files.add(description: description.content)
        }
        return files
    }
}

extension PublicDirectory.Place {
    fileprivate nonisolated var name: String {
        switch self {
        case .directory(let path): path
        case .builtIn: "built-in"
        }
    }
}
