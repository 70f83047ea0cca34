// Package chromem exchanges memories with Go programs that keep them in
// github.com/philippgille/chromem-go, an embeddable vector database.
//
//	Memory -> Export -> the file of chromem's DB.ExportToFile
//	that file, or the folder of a persistent DB -> Read -> Import -> Memory
//
// An export has one collection for each scope and one document for each current
// unit, with its vector. An import makes a memory of each document, through the
// guard that every write passes. Vectors of a collection are not taken over: they
// are derived here, like all others. Encrypted files are not read.
package chromem
